"""Evolution of a category: clustering its memories into named subcategories.

members ─▶ clusters by topic ─▶ names ─▶ draft ─▶ placement in pages ─▶ live
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.consolidation.topic_names import Topics
from hotmem.core.threads import ForegroundPriority
from hotmem.core.validation import counted
from hotmem.core.vector_math import (
    NEAR,
    matmul,
    nearest_centroids,
    normalize_rows,
    remove_direction,
)
from hotmem.options import EvolutionOptions
from hotmem.storage import Storage, queries
from hotmem.text.stemming import stems
from hotmem.types import (
    Category,
    CategoryMembers,
    EvolutionDraft,
    EvolutionResult,
    SubcategoryState,
    UserKey,
    Vector,
)

Rows = NDArray[np.float32]

RELATED: Final = 0.1
"""Cosine of a memory and a topic up to which they count as unrelated."""

GAIN: Final = 0.008
"""Mean increase of the memories' cosines with their nearest topic from which one more is chosen."""

EXCHANGES: Final = 3
"""Maximum number of exchanges of each chosen topic for a better one after every choice."""

ROUNDS: Final = 10
"""Rounds of k-means."""

TOPIC_WEIGHT: Final = 1.0
"""Weight of a topic in the mean of its cluster, where the memories together have weight 1."""

CLEAR: Final = 0.25
"""Clarity from which a cluster is kept; see `_clarity`. Of the clusters below, some half mix topics
or have a name that does not fit."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Clusters of embeddings.

    Attributes:
        centre: Direction that all rows share, a unit row, float32 (dimension,).
        centroids: Unit mean of each cluster's rows, float32 (clusters, dimension).
        topics: Index of each cluster's topic; None for a fixed cluster.
        places: Index of each row's cluster, −1 for none, (rows,).
    """

    centre: Rows
    centroids: Rows
    topics: tuple[int | None, ...]
    places: NDArray[np.intp]


def cluster(
    rows: Rows,
    topics: Rows,
    fixed: Rows,
    least: int,
    most: int,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> Clusters:
    """Cluster embeddings by topic.

    Args:
        rows: Unit rows, float32 (n, dimension).
        topics: Unit rows of the topics to choose from, without what all topics share, float32
            (topics, dimension).
        fixed: Centroids of clusters that remain as they are, whatever their size, float32
            (clusters, dimension). They come first in the result.
        least: Minimum size of the other clusters, 2 or more.
        most: Maximum number of clusters.
        wait_idle_blocking: Called every few milliseconds; blocks while recalls run.
    """
    centre = normalize_rows(rows.mean(axis=0)) if len(rows) else np.zeros_like(topics[0])
    own = remove_direction(rows, centre)
    kept = remove_direction(fixed, centre)
    cosines = matmul(own, np.ascontiguousarray(topics.T))
    chosen = (
        choose_topics(cosines, matmul(own, np.ascontiguousarray(kept.T)), most, wait_idle_blocking)
        if len(rows) >= 2 * least
        else []
    )
    while True:
        groups = _groups(own, kept, topics[chosen], wait_idle_blocking)
        sizes = np.bincount(groups[groups >= 0], minlength=len(fixed) + len(chosen))[len(fixed) :]
        if not chosen or sizes.min() >= least:
            break
        del chosen[int(sizes.argmin())]
    clear = [
        place
        for place in range(len(chosen))
        if _clarity(own, cosines[:, chosen], place, groups == len(fixed) + place) >= CLEAR
    ]
    means = [normalize_rows(rows[groups == len(fixed) + place].mean(axis=0)) for place in clear]
    centroids = np.array([*fixed, *means], dtype=np.float32).reshape(-1, topics.shape[1])
    return Clusters(
        centre,
        centroids,
        (*[None] * len(fixed), *(chosen[place] for place in clear)),
        nearest_centroids(rows, centroids, centre),
    )


def choose_topics(
    cosines: Rows,
    kept: Rows,
    most: int,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[int]:
    """Choose topics so that each row resembles one of them.

    Args:
        cosines: Cosine of each row and each topic, float32 (rows, topics).
        kept: Cosine of each row and each cluster that exists already, float32 (rows, clusters).
        most: Maximum number of topics and existing clusters together.
        wait_idle_blocking: Called before each step.

    Returns:
        Indices of the chosen topics.
    """
    floor = kept.max(axis=1, initial=RELATED)
    reached = np.maximum(cosines, floor[:, None])
    chosen: list[int] = []
    while len(chosen) + kept.shape[1] < most:
        before = reached[:, chosen].max(axis=1, initial=0.0) if chosen else floor
        best, gain = _best_topic(reached, before, wait_idle_blocking)
        if gain < GAIN:
            break
        chosen.append(best)
        for _ in range(EXCHANGES):
            former = list(chosen)
            for place in range(len(chosen)):
                others = chosen[:place] + chosen[place + 1 :]
                without = reached[:, others].max(axis=1) if others else floor
                chosen[place], _ = _best_topic(reached, without, wait_idle_blocking)
            if chosen == former:
                break
    return chosen


def _best_topic(
    reached: Rows, before: Rows, wait_idle_blocking: Callable[[], None]
) -> tuple[int, float]:
    """The topic that increases the rows' largest cosines most, and by how much in the mean."""
    wait_idle_blocking()
    gains = np.maximum(reached, before[:, None]).mean(axis=0) - before.mean()
    return int(gains.argmax()), float(gains.max())


def _groups(
    rows: Rows, kept: Rows, topics: Rows, wait_idle_blocking: Callable[[], None]
) -> NDArray[np.intp]:
    """The cluster of each row by k-means from the topics, −1 for none."""
    means = np.concatenate([kept, topics])
    if not len(means):
        return np.full(len(rows), -1, dtype=np.intp)
    for _ in range(ROUNDS):
        wait_idle_blocking()
        places = np.argmax(matmul(rows, np.ascontiguousarray(means.T)), axis=1)
        for place, topic in enumerate(topics, len(kept)):
            own = rows[places == place]
            mean = normalize_rows(own.mean(axis=0)) if len(own) else topic
            means[place] = normalize_rows(mean + TOPIC_WEIGHT * topic)
    cosines = matmul(rows, np.ascontiguousarray(means.T))
    places = np.argmax(cosines, axis=1)
    return np.where(cosines.max(axis=1) < NEAR, -1, places)


def _clarity(rows: Rows, cosines: Rows, topic: int, inside: NDArray[np.bool_]) -> float:
    """How clearly a cluster is about its topic and apart from the other rows.

    How much nearer its rows are to its topic than to the nearest other one, plus how much nearer
    they are to each other than to the other rows, both in the mean of cosines.

    Args:
        rows: All rows, float32 (n, dimension).
        cosines: Cosine of each row and each chosen topic, float32 (n, topics).
        topic: The cluster's topic among the chosen ones.
        inside: Whether each row is in the cluster, two of them or more.
    """
    own, size = cosines[inside], np.count_nonzero(inside)
    others = np.delete(own, topic, axis=1).max(axis=1, initial=0.0)
    mean = rows[inside].mean(axis=0)
    together = (size * float(mean @ mean) - 1) / (size - 1)
    apart = float(mean @ rows[~inside].mean(axis=0)) if size < len(rows) else 0.0
    return float((own[:, topic] - others).mean()) + together - apart


KEYWORDS: Final = 5
"""Maximum number of keywords of a cluster."""


def extract_keywords(
    groups: Sequence[Sequence[Collection[str]]],
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[tuple[str, ...]]:
    """Find each cluster's distinctive tags, highest weight first.

    A tag's weight is its term of the Kullback-Leibler divergence of the cluster from the others
    (1951): p · log(p / q), with the shares p and q of their memories that have the tag. Tags of
    only one memory of the cluster are left out, and so are those that share a word with a better
    one.

    Args:
        groups: The tags of the memories of each cluster.
        wait_idle_blocking: Called before each cluster; blocks while recalls run.
    """
    counts = [Counter(tag for tags in group for tag in set(tags)) for group in groups]
    total, everything = Counter[str](), sum(map(len, groups))
    for held in counts:
        total.update(held)
    found = []
    for group, held in zip(groups, counts, strict=True):
        wait_idle_blocking()
        weights = {
            tag: inside
            / len(group)
            * np.log(
                _smoothed_share(inside, len(group))
                / _smoothed_share(total[tag] - inside, everything - len(group))
            )
            for tag, inside in held.items()
            if inside > 1
        }
        best: dict[str, frozenset[str]] = {}
        for tag in sorted(weights, key=lambda tag: (-weights[tag], tag)):
            words = stems(tag)
            if weights[tag] > 0 and all(words.isdisjoint(other) for other in best.values()):
                best[tag] = words
        found.append(tuple(best)[:KEYWORDS])
    return found


def shared_name(
    keywords: Sequence[str], tags: Sequence[Collection[str]], texts: Sequence[str]
) -> str | None:
    """The proper name that most memories of a cluster contain, such as a person's or a project's.

    Args:
        keywords: The keywords of the cluster, best first; the first is judged.
        tags: Tags of each memory.
        texts: Text of each memory.

    Returns:
        The name as most texts write it; None if the keyword is no name or too rare.
    """
    if not keywords or 2 * sum(keywords[0] in held for held in tags) <= len(tags):
        return None
    written = re.compile(rf"\b{re.escape(keywords[0])}\b", re.IGNORECASE)
    forms = Counter(form for text in texts for form in written.findall(text))
    best = max(forms, key=lambda form: forms[form], default="")
    return None if best == best.lower() else best


def match_previous_names(
    before: Mapping[str, frozenset[int]], now: Sequence[frozenset[int]]
) -> list[str | None]:
    """Match each new cluster with the previous one whose name it keeps, if any.

    They match if more than half of the memories of each, as far as they were clustered both times,
    are in the other, and more than half of the new cluster's memories are not new.

    Args:
        before: Members of each previous cluster, by name.
        now: Members of each new cluster.
    """
    old = frozenset[int]().union(*before.values())
    new = frozenset[int]().union(*now)
    kept: list[str | None] = []
    for group in now:
        known = group & old
        most = max(before, key=lambda name: len(before[name] & group), default=None)
        shared = 0 if most is None else len(before[most] & group)
        kept.append(
            most
            if most is not None
            and 2 * shared > max(len(known), len(before[most] & new))
            and 2 * len(known) > len(group)
            else None
        )
    return kept


def _smoothed_share(holding: int, texts: int) -> float:
    """Share of texts with a word, with additive smoothing of one half."""
    return (holding + 0.5) / (texts + 1.0)


MAX_CLUSTERED: Final = 2000
"""Maximum number of memories that are clustered; the others are placed in the result."""

MAX_PARTS: Final = 3
"""Maximum number of parts into which a subcategory is split at once."""

DIGEST_SIZE: Final = 3
"""Number of statements in a digest."""


async def evolve(
    storage: Storage,
    priority: ForegroundPriority,
    user: UserKey,
    category: Category,
    topics: Callable[[], Awaitable[Mapping[Category, Topics]]],
    names: Callable[[UserKey, Sequence[Sequence[str]]], Awaitable[list[str | None]]],
    options: EvolutionOptions,
    now: datetime,
) -> EvolutionResult:
    """Cluster a user's category into subcategories.

    If memories are forgotten meanwhile, nothing is changed, as keywords could contain their words,
    and the category stays due.

    Args:
        storage: The memory file.
        priority: Each step waits until no recall is running.
        user: The user.
        category: The category.
        topics: Returns the topics that can name a subcategory, by category.
        names: Returns better names for groups of statements, None where it knows none.
        options: Size and number of subcategories.
        now: The current time, UTC.

    Raises:
        StoreError: If reading or writing failed; then nothing is changed.
    """
    database = storage.database
    await priority.wait_idle()
    members = await database.read(queries.evolutions.members, user, category, MAX_CLUSTERED)
    drafted = EvolutionDraft((), np.empty(0, dtype=np.float32))
    if len(members.keys) >= 2 * options.cluster_size:
        drafted = await asyncio.to_thread(
            draft_subcategories,
            members,
            (await topics())[category],
            options,
            now,
            priority.wait_idle_blocking,
        )
        fresh = [one for one in drafted.subcategories if one.name not in members.named]
        found = await names(user, [_statements(one, members) for one in fresh])
        drafted = rename_drafts(
            drafted,
            members,
            {one.name: name for one, name in zip(fresh, found, strict=True) if name},
        )
    await priority.wait_idle()
    evolution = await database.write(
        queries.evolutions.draft, user, category, drafted, members, now
    )
    before = tuple(members.named)
    unchanged = EvolutionResult(category, members.total, before, (), None)
    if evolution is None or not drafted.subcategories:
        return unchanged
    after: int | None = 0
    while after is not None:
        await priority.wait_idle()
        after = await database.write(queries.evolutions.assign_batch, user, evolution, after)
    named = tuple(one.name for one in drafted.subcategories)
    new = tuple(name for name in named if name not in before)
    reason = (
        f"{counted(members.total, 'memory', 'memories')} of {category}, "
        f"{counted(len(named), 'subcategory', 'subcategories')}: "
        f"{len(named) - len(new)} as before, {len(new)} new"
    )
    decision = await database.write(queries.evolutions.adopt, user, evolution, reason, now)
    if not decision:
        return unchanged
    return EvolutionResult(category, members.total, named, new, decision)


def draft_subcategories(
    members: CategoryMembers,
    topics: Topics,
    options: EvolutionOptions,
    now: datetime,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> EvolutionDraft:
    """Draft the subcategories of a category.

    Memories without a topic in common with enough others are in none.

    Args:
        members: The memories, one or more.
        topics: Topics that can name a subcategory.
        options: Size and number of subcategories.
        now: The current time, UTC.
        wait_idle_blocking: Called every few milliseconds; blocks while recalls run.
    """
    pinned = {name: one for name, one in members.named.items() if one.pinned}
    fixed = np.array([_centroid(one, members) for one in pinned.values()], dtype=np.float32)
    found = cluster(
        members.rows,
        topics.rows,
        fixed.reshape(-1, members.rows.shape[1]),
        options.cluster_size,
        options.most,
        wait_idle_blocking,
    )
    places = found.places.copy()
    for place, one in enumerate(pinned.values()):
        places[[key in one.members for key in members.keys]] = place
    groups = [np.flatnonzero(places == place) for place in range(len(found.centroids))]
    keywords = extract_keywords(
        [[members.tags[place] for place in group] for group in groups], wait_idle_blocking
    )
    kept = match_previous_names(
        {name: one.members for name, one in members.named.items() if not one.pinned},
        [frozenset(members.keys[place] for place in group) for group in groups],
    )
    kept[: len(pinned)] = list(pinned)
    taken = {name for name in kept if name is not None}
    drafts = []
    for group, centroid, topic, words, name in zip(
        groups, found.centroids, found.topics, keywords, kept, strict=True
    ):
        if topic is not None and len(group) < options.cluster_size:
            continue  # a pinned subcategory holds some of its memories
        if name is None:
            shared = shared_name(
                words,
                [members.tags[place] for place in group],
                [members.texts[place] for place in group],
            )
            candidates = (shared, None if topic is None else topics.names[topic])
            name = next((one for one in candidates if one and one not in taken), None)
            if name is None:
                continue
            taken.add(name)
        best = group[np.argsort(-(members.rows[group] @ centroid), kind="stable")[:DIGEST_SIZE]]
        former = members.named.get(name)
        of_name = (word for word in former.keywords if stems(word) & stems(name)) if former else ()
        held = pinned[name].members if name in pinned else frozenset()
        drafts.append(
            SubcategoryState(
                name,
                tuple(dict.fromkeys((*words, *of_name))),
                tuple(members.ids[place] for place in best),
                former.since if former else now,
                centroid,
                held.union(members.keys[place] for place in group),
                name in pinned,
            )
        )
    return EvolutionDraft(tuple(drafts), found.centre)


def rename_drafts(
    drafted: EvolutionDraft, members: CategoryMembers, names: Mapping[str, str]
) -> EvolutionDraft:
    """Give new names to drafts, by their former names, unless another has the name.

    Words of a name that the memories contain become keywords, so that the name does not outlive
    them.
    """
    taken = {one.name for one in drafted.subcategories}
    renamed = []
    for one in drafted.subcategories:
        name = names.get(one.name, one.name)
        if name in taken:
            renamed.append(one)
            continue
        taken.add(name)
        texts = " ".join(_statements(one, members)).casefold()
        words = tuple(word for word in name.casefold().split() if word in texts)
        keywords = tuple(dict.fromkeys((*one.keywords, *words)))
        renamed.append(replace(one, name=name, keywords=keywords))
    return replace(drafted, subcategories=tuple(renamed))


def _statements(one: SubcategoryState, members: CategoryMembers) -> list[str]:
    """Texts of the memories of a draft, the most central first."""
    places = np.array([place for place, key in enumerate(members.keys) if key in one.members])
    order = np.argsort(-(members.rows[places] @ _centroid(one, members)), kind="stable")
    return [members.texts[place] for place in places[order]]


def draft_parts(
    members: CategoryMembers,
    name: str,
    topics: Topics,
    options: EvolutionOptions,
    now: datetime,
) -> EvolutionDraft:
    """Draft pinned parts of a subcategory; fewer than two if its memories share one topic.

    Args:
        members: The memories of its category.
        name: Name of the subcategory.
        topics: Topics that can name a part.
        options: Size of subcategories; parts may be smaller.
        now: The current time, UTC.
    """
    held = [place for place, key in enumerate(members.keys) if key in members.named[name].members]
    least = max(min(options.cluster_size, len(held) // 4), 2)
    if len(held) < 2 * least:
        return EvolutionDraft((), np.empty(0, dtype=np.float32))
    own = replace(
        members,
        keys=tuple(members.keys[place] for place in held),
        ids=tuple(members.ids[place] for place in held),
        texts=tuple(members.texts[place] for place in held),
        tags=tuple(members.tags[place] for place in held),
        rows=members.rows[held],
        named={},
    )
    others = members.named.keys() - {name}
    free = [place for place, topic in enumerate(topics.names) if topic not in others]
    found = draft_subcategories(
        own,
        Topics(tuple(topics.names[place] for place in free), topics.rows[free]),
        replace(options, cluster_size=least, most=MAX_PARTS),
        now,
    )
    parts = [replace(one, pinned=True) for one in found.subcategories if one.name not in others]
    return replace(found, subcategories=tuple(parts))


def _centroid(one: SubcategoryState, members: CategoryMembers) -> Vector:
    """The centroid of a subcategory; if it is unknown, the mean of its embedded memories."""
    if one.centroid is not None:
        return one.centroid
    held = [place for place, key in enumerate(members.keys) if key in one.members]
    if not held:
        return np.zeros(members.rows.shape[1], dtype=np.float32)
    return normalize_rows(members.rows[held].mean(axis=0))
