"""Second jobs and homes, which do not supersede the first.

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

_MULTIPLE_RELATIONS: Final = frozenset({LIVES_IN, STUDIES_AT, WORKS_AS, WORKS_AT})
_SIDE_JOB_VERBS: Final = frozenset({"volunteer", "freelance"})
_ADDITIVE_ADVERBS: Final = wordlist("also too additionally besides sometimes occasionally")
_SEASONS: Final = wordlist(
    "weekend weekday week evening night morning afternoon summer winter spring autumn fall "
    "season holiday vacation"
)


def is_secondary(clause: Clause, relation: Relation) -> bool:
    """Whether a job, school or home is one of several.

    Marked by "also", "part-time", or certain days or seasons.
    """
    if relation not in _MULTIPLE_RELATIONS or clause.tense is not Tense.PRESENT:
        return False
    if clause.verb.lemma_ in _SIDE_JOB_VERBS:
        return True
    of_speaker = clause.subject is None or clause.subject.lower_ in FIRST_PERSON_PRONOUNS
    also = (
        relation is not LIVES_IN or of_speaker
    )  # "she also lives in Oslo" may be said because somebody else does
    return any(
        (also and token.lower_ in _ADDITIVE_ADVERBS) or _is_part_time(token) or _is_recurring(token)
        for token in _adverbials(clause)
    )


def _adverbials(clause: Clause) -> Iterator[Token]:
    """Yield the adverbs of a clause and the nouns of its adverbial phrases."""
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


def _is_part_time(token: Token) -> bool:
    return token.lower_ in ("part-time", "parttime") or (
        token.lower_ == "time" and any(child.lower_ == "part" for child in token.lefts)
    )


def _is_recurring(token: Token) -> bool:
    """Whether a noun is a recurring time: "at the weekend", "on Saturdays", "every winter"."""
    lemma = token.lemma_.lower()
    if token.dep_ not in ("pobj", "npadvmod"):
        return False
    if lemma in _SEASONS:
        return not any(child.lower_ in ("this", "next", "last") for child in token.lefts)
    return token.lower_.removesuffix("s") in WEEKDAYS and token.lower_.endswith("ays")
