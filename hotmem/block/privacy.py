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

    These are the named ones, and in the first person the one who asks.
    """
    if query.asker is None or found.role is not Role.USER:
        return False
    about = speakers_named(query) | ({query.asker} if query.analysis.first_person else set())
    return bool(about) and found.speaker not in {*about, None}


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
    question = query.analysis.question
    best, asked, secret = 0.0, set[tuple[EvidenceKind, int]](), set[tuple[EvidenceKind, int]]()
    for one in candidates[:MOST_COMPARED]:
        if not holds_secret(one.evidence):
            continue
        turns = set(one.evidence.turns)
        same = [o for o in candidates if o is one or not turns.isdisjoint(o.evidence.turns)]
        own = {(o.evidence.kind, o.evidence.key) for o in same}
        rivals = (o for o in candidates if (o.evidence.kind, o.evidence.key) not in own)
        rival = max((o.relevance for o in rivals), default=0.0)
        chance = load_model().asks_for(query.text, one.relevance, rival, question=question)
        fit = chance * max(map(secrecy, (one.evidence.text, one.evidence.reading)))
        fit *= not is_hearsay(query, one.evidence)  # who asks for theirs means no other's
        if chance >= MIN_ASKED and fit > best:
            best, asked = fit, own
        secret |= own
    return secret - asked
