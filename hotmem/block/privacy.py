"""Secrets, which are withheld until asked for, and hearsay.

Another person may be listening, and what the language model is not shown it cannot say.
"""

from collections.abc import Sequence
from typing import Final

from hotmem.ranking.features import speakers_named
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.types import Evidence, EvidenceKind, Query, Role
from hotmem.understanding.private_statements import MIN_ASKED, holds_secret, load_model, secrecy

MOST_COMPARED: Final = 20
"""Number of the most relevant statements among which the secret that is asked for must be."""


def is_hearsay(query: Query, found: Evidence) -> bool:
    """Whether somebody else says it than the speakers whom the utterance asks about.

    These are the named ones, and the one who asks in the first person or where nobody is named.
    """
    if query.asker is None or found.role is not Role.USER:
        return False
    about = speakers_named(query)
    own = query.analysis.first_person or not about
    return found.speaker not in {*about, None} | ({query.asker} if own else set())


def withheld(query: Query, candidates: Sequence[ScoredCandidate]) -> set[tuple[EvidenceKind, int]]:
    """The secrets that an utterance does not ask for, with all that is of the same turns.

    It asks for one at most.

    Args:
        query: The analysed utterance.
        candidates: Distinct statements, best first.

    Returns:
        Their kinds and row numbers. Of less relevant statements than `MOST_COMPARED`, it says
        nothing.
    """
    best, asked, secret = 0.0, set[tuple[EvidenceKind, int]](), set[tuple[EvidenceKind, int]]()
    question, asks_for = query.analysis.question, load_model().asks_for
    said = [one for one in candidates if not is_hearsay(query, one.evidence)]
    for one in (one for one in candidates[:MOST_COMPARED] if holds_secret(one.evidence)):
        turns = set(one.evidence.turns)
        same = [o for o in candidates if o is one or not turns.isdisjoint(o.evidence.turns)]
        own = {(o.evidence.kind, o.evidence.key) for o in same}
        rivals = [o.relevance for o in said if (o.evidence.kind, o.evidence.key) not in own]
        chance = asks_for(query.text, one.relevance, max(rivals, default=0), question=question)
        fit = chance * max(map(secrecy, (one.evidence.text, one.evidence.reading)))
        fit *= not is_hearsay(query, one.evidence)  # who asks for theirs means no other's
        if chance >= MIN_ASKED and fit > best:
            best, asked = fit, own
        secret |= own
    return secret - asked
