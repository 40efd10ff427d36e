"""JobKind off the spoken path: embedding, understanding, summarising, evolving, taking imports back.

Durable, resumed after a crash, one piece at a time, in turn for all users who wait for some
(`hotmem.storage.queries.jobs`).

The queue is the file itself: a row without a vector waits to be embedded, a turn in `pending` waits
to be understood, a session marked due waits for its summary, a category that has grown for its
time. Whatever a crash leaves is found there again. A piece that fails is tried again after a pause,
each longer than the one before, and then set aside; everything else goes on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final, TypeVar

import numpy as np

from hotmem.consolidation.clustering import can_cluster, check_can_cluster
from hotmem.consolidation.evolution import evolve
from hotmem.consolidation.same_subject import find_same_subjects
from hotmem.consolidation.summary import count_topics, render_summary, summarise
from hotmem.consolidation.supersession import apply_correction, find_supersession
from hotmem.core.logs import log
from hotmem.core.priority import ForegroundPriority
from hotmem.errors import (
    MemoryClosed,
    StoreFull,
    StoreGone,
    StoreLocked,
    StoreReadOnly,
    StoreUnusable,
)
from hotmem.models import Encoder, Language, encode_tokens
from hotmem.operations.retention import Retention
from hotmem.options import BackgroundOptions, EvolutionOptions
from hotmem.portability.importer import WRITING_S
from hotmem.retrieval.context import FormerEncoder
from hotmem.storage.store import Store
from hotmem.text.truncation import join_spans, truncate, truncated_spans
from hotmem.types import (
    Category,
    EvidenceKind,
    EvolutionResult,
    JobKind,
    Role,
    SessionSummary,
    SignBits,
    Statement,
    SummaryInput,
    Topic,
    Turn,
    Understanding,
    UserKey,
    Vector,
)
from hotmem.types.parse import Doc
from hotmem.understanding.facts import extract_facts
from hotmem.understanding.facts.classification import classify_statements
from hotmem.understanding.facts.hearsay import mark_hearsay
from hotmem.understanding.facts.rewrites import RewrittenText, Segment
from hotmem.understanding.facts.truecasing import lacks_case, sentence_starts, truecase
from hotmem.understanding.query.ngrams import word_ngrams

T = TypeVar("T")

OF_THE_FILE: Final = (StoreLocked, StoreReadOnly, StoreFull, StoreGone, StoreUnusable, MemoryClosed)
"""Errors that no piece of work is to blame for: none can be done."""

RETRIED: Final = 64
"""Pieces set aside earlier that are given one more try at once when a memory is opened, a second
or two of failing; others follow if any succeeds."""

RETRY_EVERY_S: Final = 3600.0
"""Seconds between two such tries while a memory is open: an encoder that was out of memory for a
minute must not leave rows behind for good."""

LEAST_PAUSE_S: Final = 0.05
"""Seconds between two looks for work at least."""

IDLE_CHECK_S: Final = 30.0
"""Seconds between two looks for sessions that have fallen idle."""

EVOLUTION_CHECK_S: Final = 300.0
"""Seconds between two looks for categories whose time has come to evolve; each counts all
memories."""

PARSED_AT_ONCE: Final = 4
"""Turns parsed in one go, some 20 ms; parses run one at a time, a question's among them."""

LONGEST_AT_ONCE: Final = 1_000
"""Characters of several turns that are parsed in one go."""

LONGEST_READ: Final = {Role.USER: 4_000, Role.ASSISTANT: 600}
"""Characters of a turn that are parsed; what is longer was pasted, or is a lecture. All of it is
found by its words and its meaning."""


NO_SIGNS: Final[SignBits] = np.empty((0, 0), dtype=np.uint8)
"""Of what is not compared word piece by word piece."""


class Worker:
    """The one task that does the background work of a memory.

    Args:
        store: The memory file.
        encoder: Texts → vectors.
        language: Texts → parses.
        options: Batch size, tries and pauses, and idle time.
        evolution: Whether and when categories evolve; without scikit-learn they do not.
        retention: Removes what has been kept for as long as it may be.
        precedence: Tells when recalls are on their way.
        former: The file's former encoder; released when all rows have been embedded again.
    """

    def __init__(
        self,
        store: Store,
        encoder: Encoder,
        language: Language,
        options: BackgroundOptions,
        evolution: EvolutionOptions,
        retention: Retention,
        precedence: ForegroundPriority,
        former: FormerEncoder,
    ) -> None:
        self._former = former
        self._store = store
        self._encoder = encoder
        self._language = language
        self._options = options
        self._evolution = replace(evolution, on=evolution.on and can_cluster())
        self._retention = retention
        self._precedence = precedence
        self._evolving = asyncio.Lock()
        self._evolution_looked_at = datetime.min.replace(tzinfo=UTC)
        self._work = asyncio.Event()
        self._settled = asyncio.Event()
        self._failures = 0
        self._resumes: datetime | None = None
        self._retried: int | None = 0
        self._retrying_since = datetime.now(UTC)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the task; what an earlier run left is done first."""
        self._work.set()
        self._task = asyncio.create_task(self._run(), name="hotmem-background")

    def wake(self) -> None:
        """Says that there is work."""
        self._settled.clear()
        self._work.set()

    async def settle(self) -> None:
        """Returns when nothing is left to do.

        What failed for good is set aside and does not count.
        """
        self.wake()
        await self._settled.wait()

    async def evolve(self, user: UserKey, categories: Iterable[Category]) -> list[EvolutionResult]:
        """Finds the subcategories of these categories anew, one after the other.

        Raises:
            ExtraMissing: If scikit-learn is not installed.
        """
        check_can_cluster()
        found = []
        for category in categories:
            async with self._evolving:
                found.append(
                    await evolve(
                        self._store,
                        self._precedence,
                        user,
                        category,
                        self._evolution,
                        datetime.now(UTC),
                    )
                )
        return found

    async def close(self) -> None:
        """Stops after the piece of work at hand; the rest waits in the file."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._settled.set()

    async def _run(self) -> None:
        while True:
            self._work.clear()
            await self._precedence.wait_idle()
            if await self._one_round():
                continue
            if not self._work.is_set() and not self._resumes:
                self._settled.set()
            try:
                async with asyncio.timeout(self._until_next_look()):
                    await self._work.wait()
            except TimeoutError:
                self._settled.clear()

    def _until_next_look(self) -> float:
        """Seconds until there may be work again that nobody tells of."""
        pause = (
            (self._resumes - datetime.now(UTC)).total_seconds() if self._resumes else IDLE_CHECK_S
        )
        return min(IDLE_CHECK_S, max(min(pause, self._options.idle_s), LEAST_PAUSE_S))

    async def _one_round(self) -> bool:
        """A small piece of each sort of work; False when there is none.

        A failure is logged and counted, never raised.

        The encoder runs beside the parser: it leaves the interpreter's lock to it.
        """
        try:
            self._resumes = await self._store.resume_failures(datetime.now(UTC))
            outcomes = await asyncio.gather(
                self._embed(), self._understand(), return_exceptions=True
            )
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
            await self._store.finish_forgetting()
            more = any(
                [
                    *outcomes,
                    await self._take_back(),
                    await self._summarise(thorough=not any(outcomes)),
                ]
            )
            more = (
                more
                or await self._embed_anew()
                or await self._evolve()
                or await self._retry()
                or await self._retain()
            )
        except (
            Exception
        ) as error:  # the border at which background work must not take the memory down
            self._failures += 1
            self._resumes = None
            log.error("background work failed", error=type(error).__name__, failures=self._failures)
            return self._failures < self._options.attempts
        self._failures = 0
        return more

    async def _attempt(
        self,
        work: JobKind,
        pieces: Sequence[T],
        key: Callable[[T], int | str],
        run: Callable[[Sequence[T]], Awaitable[Any]],
    ) -> None:
        """Does some pieces of work at once.

        If that fails, each half by itself, so that only the piece that fails is counted, and is set
        aside.

        Raises:
            StoreError: If no piece of work can be done, as the file cannot be written.
        """
        try:
            await run(pieces)
        except OF_THE_FILE:
            raise
        except (
            Exception
        ) as error:  # the border at which a piece that cannot be done must not hold up the others
            if len(pieces) == 1:
                await self._count_failure(work, key(pieces[0]), error)
                return
            for half in (pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :]):
                await self._precedence.wait_idle()
                await self._attempt(work, half, key, run)

    async def _count_failure(
        self, work: JobKind, key: int | str, error: Exception, user: UserKey | None = None
    ) -> None:
        log.warning("background work failed", work=work, piece=key, error=type(error).__name__)
        now, options = datetime.now(UTC), self._options
        await self._store.count_failure(
            work, key, type(error).__name__, options.attempts, options.pause_s, now, user
        )

    async def _retry(self) -> bool:
        """Gives what was set aside one more try each, some at a time, for as long as any of them succeed: after the memory is opened, and hourly."""
        now = datetime.now(UTC)
        if now > self._retrying_since + timedelta(seconds=RETRY_EVERY_S):
            self._retrying_since, self._retried = now, 0
        if self._retried is None:
            return False
        given = await self._store.retry_failures(self._retrying_since, self._retried, RETRIED)
        self._retried = self._retried + given if given else None
        return bool(given)

    async def _embed(self) -> bool:
        waiting = await self._store.waiting_for_vectors(self._options.batch)
        for kind, group in groupby(waiting, key=lambda row: row[0]):
            await self._attempt(JobKind(kind), list(group), lambda row: row[1], self._put_embedded)
        return bool(waiting)

    async def _embed_anew(self) -> bool:
        """Embeds some rows that have vectors of the former encoder.

        The former encoder goes with the last of them.
        """
        if await self._store.former_encoder() is None:
            self._former.encoder = None
            return False
        if await self._store.superseded():
            return False
        rows = await self._store.rows_of_former_encoder(self._options.batch)
        if not rows:
            await self._store.finish_reembedding()
            log.info("embedded anew", encoder=self._encoder.name)
            return True
        try:
            await self._put_embedded(rows, anew=True)
        except OF_THE_FILE:
            raise
        except Exception as error:  # which of them it is comes out when they wait like new ones
            log.warning(
                "rows not embedded anew",
                kind=rows[0][0],
                rows=len(rows),
                error=type(error).__name__,
            )
            await self._store.take_vectors(rows[0][0], [key for _, key, _ in rows])
        return True

    async def _put_embedded(
        self, rows: Sequence[tuple[EvidenceKind, int, str]], *, anew: bool = False
    ) -> None:
        kind = rows[0][0]
        vectors, signs = await asyncio.to_thread(
            self._embedded, kind, [text for _, _, text in rows]
        )
        await self._store.put_vectors(rows, vectors, signs, anew=anew)

    def _embedded(
        self, kind: EvidenceKind, texts: Sequence[str]
    ) -> tuple[Sequence[Vector], Sequence[SignBits]]:
        """Rows of the texts, and their token signs; a summary has none."""
        if kind is EvidenceKind.SUMMARY:
            return list(self._encoder.encode(texts)), [NO_SIGNS] * len(texts)
        readings = encode_tokens(self._encoder, texts)
        return [one.vector for one in readings], [one.token_signs for one in readings]

    async def _understand(self) -> bool:
        """Learns some waiting turns; each user's in the order they were said."""
        waiting = await self._store.waiting_turns(PARSED_AT_ONCE)
        if waiting:
            await self._attempt(JobKind.TURN, waiting, lambda one: one[0], self._learn)
        return bool(waiting)

    async def _learn(self, waiting: Sequence[tuple[int, Turn]]) -> None:
        """Stores what the turns say."""
        known = [await self._names(turn) for _, turn in waiting]
        owners = [await self._owner(turn) for _, turn in waiting]
        understandings = await asyncio.to_thread(
            self._read, [turn for _, turn in waiting], known, owners
        )
        understood = {
            key: understanding
            for (key, _), understanding in zip(waiting, understandings, strict=True)
        }
        await self._store.learn(understood, find_supersession, apply_correction, find_same_subjects)

    async def _names(self, turn: Turn) -> Sequence[str]:
        """Names in a turn without capitals that the store knows already."""
        text = _read_of(turn)
        user = await self._store.user(turn.user_id) if lacks_case(text) else None
        if user is None:
            return ()
        profile = await self._store.profile(user, word_ngrams(text))
        return (*profile.speakers, *profile.entities)

    async def _owner(self, turn: Turn) -> str | None:
        """The user's name, if somebody else in the room says this."""
        user = (
            await self._store.user(turn.user_id)
            if turn.speaker and turn.role == Role.USER
            else None
        )
        name = None if user is None else await self._store.speaker(user)
        return None if name is None or turn.speaker == name else name

    def _read(
        self, turns: Sequence[Turn], known: Sequence[Sequence[str]], owners: Sequence[str | None]
    ) -> list[Understanding]:
        understandings = []
        for turn, doc, names, owner in zip(turns, self._parse(turns), known, owners, strict=True):
            self._precedence.wait_idle_blocking()
            whole = self._restored(doc, names) if lacks_case(doc.text) else doc
            understanding = extract_facts(
                whole, self._parsed, turn.speaker, Role(turn.role), turn.spoken_at, self._filed
            )
            understanding = _placed(understanding, turn)
            understandings.append(
                understanding if owner is None else mark_hearsay(understanding, owner)
            )
        return understandings

    def _filed(self, doc: Doc, statements: Sequence[Statement]) -> Sequence[Statement]:
        return classify_statements(doc, statements, self._encoder)

    def _parsed(self, text: str) -> Doc:
        return self._language.parse([text])[0]

    def _restored(self, doc: Doc, names: Sequence[str]) -> Doc:
        """The parse of a text without case, its capitals and sentence ends put back."""
        small = doc.text.lower()
        if small != doc.text and len(small) == len(doc.text):
            doc = self._language.parse([small])[0]
        starts = sentence_starts(doc)
        return self._language.parse_sentences(truecase(doc, starts, names), starts)

    async def _take_back(self) -> bool:
        key = await self._store.import_due()
        if key is not None:
            await self._attempt(
                JobKind.IMPORT, [key], lambda key: key, lambda _: self._store.take_back(WRITING_S)
            )
        return key is not None

    async def _summarise(self, *, thorough: bool) -> bool:
        session = await self._store.session_due(
            datetime.now(UTC), self._options.idle_s, thorough=thorough
        )
        if session is not None:
            await self._attempt(
                JobKind.SESSION, [session], lambda session: session, self._put_summary
            )
        return session is not None

    async def _put_summary(self, sessions: Sequence[int]) -> None:
        (session,) = sessions
        seen = await self._store.unsummarised(session)
        if seen is None:
            await self._store.summarised(session)
            return
        summary, topics = await asyncio.to_thread(self._summary, seen)
        await self._store.put_summary(seen, summary, topics, render_summary(summary))

    def _summary(self, seen: SummaryInput) -> tuple[SessionSummary, Mapping[str, Topic]]:
        """The summary of what is not summarised yet and what was quoted before, and what its topics weigh."""
        docs = list(self._parse(seen.turns))
        counted = [
            (turn, doc)
            for key, turn, doc in zip(seen.keys, seen.turns, docs, strict=True)
            if key in seen.fresh
        ]
        topics = count_topics(counted, seen.topics)
        return summarise(seen.turns, docs, seen.vectors, topics), topics

    async def _evolve(self) -> bool:
        """Lets a category evolve whose time has come.

        One that never did waits that long from when the file was made.
        """
        now = datetime.now(UTC)
        if not self._evolution.on or now < self._evolution_looked_at + timedelta(
            seconds=min(EVOLUTION_CHECK_S, self._evolution.every_s)
        ):
            return False
        found = await self._store.evolution_due(
            now, timedelta(seconds=self._evolution.every_s), self._evolution.cluster_size
        )
        if found is None:
            self._evolution_looked_at = now
            return False
        user, category = found
        try:
            await self.evolve(user, [category])
        except OF_THE_FILE:
            raise
        except Exception as error:  # one category that cannot evolve must not hold up the others
            await self._count_failure(JobKind.CATEGORY, category, error, user)
        else:
            await self._store.count_success(JobKind.CATEGORY, category, user)
        return True

    async def _retain(self) -> bool:
        try:
            return await self._retention.portion(datetime.now(UTC))
        except OF_THE_FILE:
            raise
        except (
            Exception
        ) as error:  # one user of whom nothing can be removed must not hold up the others
            log.error("what is too old was not removed", error=type(error).__name__)
            self._retention.skip()
            return True

    def _parse(self, turns: Sequence[Turn]) -> Iterator[Doc]:
        """The turns' parses, a few at a time, so that a question waits for a few at most."""
        texts = [_read_of(turn) for turn in turns]
        while texts:
            few = next(
                (
                    few
                    for few in range(PARSED_AT_ONCE, 1, -1)
                    if sum(map(len, texts[:few])) <= LONGEST_AT_ONCE
                ),
                1,
            )
            yield from self._language.parse(texts[:few])
            texts = texts[few:]


def _read_of(turn: Turn) -> str:
    """What of a turn is parsed."""
    return truncate(turn.text, LONGEST_READ[Role(turn.role)])


def _placed(understanding: Understanding, turn: Turn) -> Understanding:
    """What was understood of what was parsed, with its places in the turn."""
    spans = truncated_spans(turn.text, LONGEST_READ[Role(turn.role)])
    if len(spans) == 1:
        return understanding
    return RewrittenText(
        tuple(Segment(join_spans(turn.text, [span]), *span) for span in spans)
    ).restore_offsets(understanding)
