"""Second jobs and homes, held beside the first.

"I also work at Lidl", "in winter I live in Malaga".
"""

from collections.abc import Iterator
from typing import Final

from hotmem.temporal import WEEKDAYS
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import Clause, Tense
from hotmem.understanding.facts.relations import LIVES_IN, STUDIES_AT, WORKS_AS, WORKS_AT, Relation
from hotmem.understanding.facts.third_person import FIRST_PERSON_PRONOUNS

_HELD_BESIDE: Final = frozenset({LIVES_IN, STUDIES_AT, WORKS_AS, WORKS_AT})
_SIDE_JOBS: Final = frozenset({"volunteer", "freelance"})
_ALSO: Final = wordlist("also too additionally besides sometimes occasionally")
_SEASONS: Final = wordlist(
    "weekend weekday week evening night morning afternoon summer winter spring autumn fall season holiday vacation"
)


def is_secondary(clause: Clause, relation: Relation) -> bool:
    """Whether a job, school or home is told as one of several.

    By "also", "part-time", or for some days or seasons only.
    """
    if relation not in _HELD_BESIDE or clause.tense is not Tense.PRESENT:
        return False
    if clause.verb.lemma_ in _SIDE_JOBS:
        return True
    told_of_speaker = clause.subject is None or clause.subject.lower_ in FIRST_PERSON_PRONOUNS
    also = (
        relation is not LIVES_IN or told_of_speaker
    )  # "she also lives in Oslo" may be said because somebody else does
    return any(
        (also and token.lower_ in _ALSO) or _part_time(token) or _recurs(token)
        for token in _adverbials(clause)
    )


def _adverbials(clause: Clause) -> Iterator[Token]:
    """The adverbs of a clause, and the nouns of its adverbial phrases."""
    for child in (
        *clause.verb.children,
        *(clause.finite.children if clause.finite != clause.verb else ()),
    ):
        if child.dep_ == "prep":
            yield from (part for part in child.children if part.dep_ == "pobj")
            yield from (
                inner
                for part in child.children
                for inner in part.children
                if inner.dep_ in ("advmod", "npadvmod")
            )
        yield child
        yield from (part for part in child.children if child.dep_ == "prep" and part.dep_ == "prep")


def _part_time(token: Token) -> bool:
    return token.lower_ in ("part-time", "parttime") or (
        token.lower_ == "time" and any(child.lower_ == "part" for child in token.lefts)
    )


def _recurs(token: Token) -> bool:
    """Whether a noun tells when in the week or year.

    "at the weekend", "on Saturdays", "every winter".
    """
    lemma = token.lemma_.lower()
    if token.dep_ not in ("pobj", "npadvmod"):
        return False
    if lemma in _SEASONS:
        return not any(child.lower_ in ("this", "next", "last") for child in token.lefts)
    return token.lower_.removesuffix("s") in WEEKDAYS and token.lower_.endswith("ays")
