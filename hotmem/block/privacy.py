"""Secrets, which are withheld until asked for, and hearsay.

Another person may be listening, and what the language model is not shown it cannot say.
"""

from collections.abc import Sequence

import numpy as np

from hotmem.ranking.features import cosines, speakers_named
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.types import Evidence, Query, Role
from hotmem.understanding import private_statements as secrets


def is_hearsay(query: Query, found: Evidence) -> bool:
    """Whether somebody else says it than the speakers whom the utterance asks about.

    These are the named ones, and the one who asks in the first person or where nobody is named.
    """
    if query.asker is None or found.role is not Role.USER:
        return False
    about = speakers_named(query)
    own = query.analysis.first_person or not about
    return found.speaker not in {*about, None} | ({query.asker} if own else set())


def without_secrets(query: Query, candidates: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Leave out the secrets that an utterance does not ask for, with all that is of the same turns.

    It asks for one at most of those that surely are secrets.

    Args:
        query: The analysed utterance.
        candidates: Distinct statements.
    """
    evidence = [one.evidence for one in candidates]
    if not (held := [place for place, one in enumerate(evidence) if secrets.holds_secret(one)]):
        return list(candidates)
    best, asked, secret, asks_for = 0.0, set[int](), set[int](), secrets.load_model().asks_for
    near = np.stack([[one.relevance for one in candidates], cosines(query, evidence)], axis=1)
    said = {place for place, one in enumerate(evidence) if not is_hearsay(query, one)}
    for place in held:
        found, turns = evidence[place], {*evidence[place].turns}
        if found.vector is None:  # just said: its words tell
            shared = len(query.stems & found.terms) / max(len(query.stems), 1)
            near[place] = np.maximum(near[place], shared * np.array(secrets.NEAR_BY_WORDS))
        own = {at for at, one in enumerate(evidence) if one is found or turns & {*one.turns}}
        pair = np.stack([near[place], near[list(said - own)].max(axis=0, initial=0)])
        # who asks for a guest's means no other's
        chance = asks_for(query.text, pair, question=query.analysis.question) * (place in said)
        fit = chance * max(map(secrets.secrecy, (found.text, found.reading)))
        if chance >= secrets.MIN_ASKED and fit > best:
            best, asked = fit, own
        if chance < secrets.MIN_DOUBTED or secrets.holds_secret(found, secrets.SURELY):
            secret |= own
    return [one for place, one in enumerate(candidates) if place not in secret - asked]
