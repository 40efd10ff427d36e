"""Phrases of a parse: which words belong to a head, and whether they can be understood alone."""

from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.text.word_sets import word_sets
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import misattached_verb
from hotmem.understanding.facts.third_person import QUANTIFIERS, UNRESOLVED

_WORDS: Final = word_sets(__file__)

MAX_PREDICATE_WORDS: Final = 22
"""Words of the longest predicate that is kept."""

MAX_RELATIVE_CLAUSE_WORDS: Final = 9
"""Words of the longest relative clause that is kept."""

LEFT_OUT: Final = _WORDS["left_out"]

DISCOURSE: Final = _WORDS["discourse"]
"""Discourse words, which are left out of facts."""

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl"})

_INNER: Final = frozenset("-/'’&")
"""Marks that may stand inside a word."""

_LEADING: Final = frozenset({"WDT", "WP", "WP$", "WRB"})
"""Tags of relative pronouns and adverbs."""


def phrase(head: Token, *, bare: bool = False, split: bool = False) -> tuple[Token, ...]:
    """Return a head and its dependents, in order.

    Clauses, contrasts ("Denver, not Boston") and outer punctuation are left out.

    Args:
        head: The head.
        bare: Leave out its prepositional phrases and its article: "Siemens" of "Siemens in Munich".
        split: Leave out its conjuncts, each of which makes a fact of its own.
    """
    kept = set(_members(head))
    for child in head.children:
        if (bare and (child.dep_ in ("prep", "relcl") or child.lower_ in ("a", "an"))) or (
            (bare or split) and (child.dep_ in ("conj", "cc") or child.text == ",")
        ):
            kept -= set(child.subtree)
    ordered = sorted(kept, key=lambda token: token.i)
    contrast = next(
        (
            place
            for place, token in enumerate(ordered)
            if token.lower_ == "not" and _has_noun(ordered[:place])
        ),
        len(ordered),
    )
    while contrast and (ordered[contrast - 1].dep_ == "cc" or ordered[contrast - 1].text == ","):
        contrast -= 1
    return tuple(ordered[:contrast])


def _has_noun(tokens: Sequence[Token]) -> bool:
    return any(token.pos_ in ("NOUN", "PROPN", "NUM") for token in tokens)


def _members(head: Token, left_out: frozenset[str] = LEFT_OUT) -> Iterator[Token]:
    yield head
    for child in head.children:
        if child.dep_ in left_out and not (
            is_coordinated(child) or (child.dep_ == "relcl" and _is_restrictive(child))
        ):
            continue
        if child.dep_ == "punct" and not (_is_word_internal(child) or _is_list_comma(child)):
            continue
        if is_discourse(child) or (child.dep_ == "appos" and not _names(child, head)):
            continue
        yield from _members(child, LEFT_OUT - _SUBJECTS)


def _names(apposition: Token, head: Token) -> bool:
    """Whether an apposition is a name, or directly behind its noun: "my son Tim", "a capital K"."""
    return apposition.pos_ == "PROPN" or apposition.left_edge.i == head.i + 1


def _is_restrictive(clause: Token) -> bool:
    """Whether a relative clause is restrictive and self-contained: "a friend who teaches music"."""
    words = tuple(_members(clause, LEFT_OUT - _SUBJECTS))
    return (
        _has_gap(clause)
        and len(words) <= MAX_RELATIVE_CLAUSE_WORDS
        and not _lacks_complement_clause(words)
        and not any(map(_is_unresolved, words))
        and not loses_restriction(words, negated=False)
    )


def _has_gap(clause: Token) -> bool:
    """Whether a relative clause modifies its noun and is no clause of its own.

    No comma precedes it, and without "who" or "that" its verb lacks an object: "I'm a nurse I have
    three cats" is two sentences.
    """
    if clause.left_edge.i == 0 or clause.left_edge.nbor(-1).is_punct:
        return False
    led = any(
        token.tag_ in _LEADING or token.lower_ == "that"
        for token in clause.doc[clause.left_edge.i : clause.i]
    )
    return led or clause.tag_ == "VB" or not any(child.dep_ == "dobj" for child in clause.rights)


def _lacks_complement_clause(words: Sequence[Token]) -> bool:
    """Whether a verb has lost its complement clause: "makes me think"."""
    return any(
        child.dep_ == "ccomp" and child.i > token.i
        for token in words
        if token.pos_ in ("VERB", "AUX")
        for child in token.children
    )


def _is_word_internal(token: Token) -> bool:
    """Whether a mark is part of a word or number: the hyphen of "self-care", the dollar of "$5"."""
    if token.text in _INNER:
        return not token.whitespace_ and token.i > 0 and not token.nbor(-1).whitespace_
    return token.text in ("$", "%", "#")


def _is_list_comma(token: Token) -> bool:
    """Whether a comma separates coordinated nouns or adjectives."""
    return token.text == "," and any(
        other.i > token.i and other.dep_ == "conj" and is_coordinated(other)
        for other in token.head.children
    )


def is_coordinated(token: Token) -> bool:
    """Whether a word is a conjunct or conjunction of nouns or adjectives.

    Coordinated verbs are clauses of their own.
    """
    if token.dep_ == "cc":
        return any(other.dep_ == "conj" and is_coordinated(other) for other in token.head.children)
    nominal = ("NOUN", "PROPN", "ADJ", "NUM", "X")
    return (
        token.dep_ == "conj"
        and token.pos_ in nominal
        and token.head.pos_ in nominal
        and misattached_verb(token) is None
    )


def is_self_contained(words: Sequence[Token], mentions: Sequence[TimeMention]) -> bool:
    """Whether a predicate can be understood alone: it is short and has no unresolved pronoun."""
    if len(words) > MAX_PREDICATE_WORDS or (
        words[-1].pos_ in ("ADP", "DET", "PART", "SCONJ")
        and words[-1].dep_ != "prt"
        and not is_in_mention(words[-1], mentions)
        and not _in_relative_clause(words[-1])
    ):
        return False
    return not _lacks_complement_clause(words) and not any(
        _is_unresolved(token) and not is_in_mention(token, mentions) for token in words
    )


def loses_restriction(words: Sequence[Token], *, negated: bool) -> bool:
    """Whether a restrictive relative clause is left out.

    "the nurses I saw there", or, in a negation, "flowers that you gave me".
    """
    return any(
        child.dep_ == "relcl"
        and child not in words
        and _has_gap(child)
        and (negated or any(other.lower_ == "the" for other in token.lefts))
        for token in words
        for child in token.rights
    )


def _is_unresolved(token: Token) -> bool:
    """Whether a word refers to something outside the phrase.

    "other" and "lots" do not if a noun follows.
    """
    if token.lower_ not in UNRESOLVED or token.tag_ == "IN" or token.pos_ == "PROPN":
        return False
    if token.tag_ in ("WDT", "WP") and _in_relative_clause(token):
        return False
    if token.lower_ == "one" and token.i and token.nbor(-1).like_num:
        return False
    if token.lower_ in QUANTIFIERS:
        return not (
            token.dep_ in ("amod", "det", "predet")
            or any(child.lower_ == "of" and any(child.children) for child in token.children)
        )
    return not (
        token.lower_ in ("one", "something", "anything", "nothing", "someone", "everyone")
        and token.dep_ in ("nummod",)
    )


def _in_relative_clause(token: Token) -> bool:
    """Whether a word is in a relative clause: the "on" of "a computer that I play games on"."""
    return any(verb.dep_ == "relcl" for verb in token.ancestors)


def is_in_mention(token: Token, mentions: Sequence[TimeMention]) -> bool:
    """Whether a token is part of a time."""
    return any(mention.start <= token.idx < mention.stop for mention in mentions)


def _means_now(token: Token) -> bool:
    """Whether words only mean the present: "these days"."""
    return token.lower_ == "days" and any(child.lower_ == "these" for child in token.children)


def _is_by_the_way(token: Token) -> bool:
    return token.lower_ == "by" and [one.lower_ for one in token.subtree] == ["by", "the", "way"]


def is_discourse(token: Token) -> bool:
    """Whether a token is a discourse word or an emphatic "do"."""
    if (
        token.dep_ == "aux"
        and token.lower_ in ("do", "does")
        and not any(child.dep_ == "neg" for child in token.head.children)
    ):
        return True
    if token.dep_ == "prep" and (token.lower_ == "because" or _is_by_the_way(token)):
        return True
    if (token.lower_ == "well" and token.head.pos_ not in ("VERB", "AUX")) or (
        token.lower_ == "too" and token.i < token.head.i
    ):
        return False
    if token.dep_ == "npadvmod" and token.lower_ in ("myself", "ourselves"):
        return True
    adverbial = token.dep_ in ("advmod", "npadvmod", "intj", "prep") and (
        token.lower_ in DISCOURSE or _means_now(token)
    )
    return adverbial and not any(child.dep_ in ("pobj", "pcomp") for child in token.children)
