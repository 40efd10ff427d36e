"""What a clause says of its subject: the words kept, the complements, the times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token
from hotmem.understanding.facts.clauses import Clause, misattached_verb
from hotmem.understanding.facts.relations import Relation
from hotmem.understanding.facts.third_person import QUANTIFIERS, UNRESOLVED

MAX_PREDICATE_WORDS: Final = 22
"""Words of a predicate; what is longer is rarely one fact."""

MAX_RELATIVE_CLAUSE_WORDS: Final = 9
"""Words of a relative clause; a longer one is left out."""

_LEFT_OUT: Final = frozenset(
    {
        "conj",
        "cc",
        "relcl",
        "advcl",
        "ccomp",
        "parataxis",
        "intj",
        "mark",
        "nsubj",
        "nsubjpass",
        "expl",
        "meta",
        "preconj",
        "csubj",
        "dep",
    }
)
DISCOURSE: Final = wordlist(
    "actually really just also too honestly basically maybe though so well still now even definitely probably certainly literally "
    "obviously currently anyway however instead perhaps finally recently already then fortunately unfortunately luckily sadly "
    "hopefully personally absolutely totally sort kind like mostly apparently right ever much better alot lately of "
    "anymore either"
)
"""Words that tell of the conversation, not of the fact."""

_PLACES: Final = frozenset({"there", "here"})
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl"})
_INNER: Final = frozenset("-/'’&")
"""Signs that may stand within a word."""

_LEADING: Final = frozenset({"WDT", "WP", "WP$", "WRB"})
"""Tags of the words that relative clauses begin with."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a clause was found to say, before it is told.

    Attributes:
        relation: Its relation.
        value: The words of its object, in order; may be empty.
        words: The words of the whole predicate, in order.
        object: The object where it is not told from `value`, such as a date.
        negated: Overrides the clause's polarity where given.
        over: The word for what is said to be over, where more than one relation may have it; None
            for most.
    """

    relation: Relation
    value: tuple[Token, ...]
    words: tuple[Token, ...]
    object: str = ""
    negated: bool | None = None
    over: Token | None = None


def predicate_words(
    clause: Clause, *, only: Token | None = None, head: Token | None = None
) -> tuple[Token, ...]:
    """The words of a clause without its subject, its other clauses and its discourse words.

    Args:
        clause: The clause.
        only: One of several joined complements; the others are left out.
        head: The complement that `only` is joined to.
    """
    kept: set[Token] = {clause.finite, clause.verb}
    opening = (
        0
        if clause.subject is None
        else clause.subject.left_edge.i
        if clause.subject.pos_ != "PRON"
        else clause.subject.i
    )
    if clause.subject is not None and clause.subject.head not in (
        clause.finite,
        clause.verb,
        clause.finite.head,
    ):
        opening = 0
    for verb in dict.fromkeys(
        (
            clause.finite.head if clause.finite.dep_ in ("aux", "auxpass") else clause.finite,
            clause.verb,
        )
    ):
        kept.add(verb)
        for child in verb.children:
            if (
                child.dep_ not in _LEFT_OUT
                and child.dep_ != "xcomp"
                and not child.is_punct
                and not _discourse(child)
            ) or (child.dep_ == "xcomp" and child != clause.verb and _apart(child, clause)):
                kept.update(phrase(child))
    if only is not None and head is not None:
        kept -= set(head.subtree)
        kept.update(phrase(only, split=True))
    before = {token for token in kept if token.i < opening}
    front = sorted((token for token in before if _when(token)), key=lambda token: token.i)
    return (*sorted(kept - before, key=lambda token: token.i), *front)


def inner_phrase(clause: Clause) -> tuple[Token, ...]:
    """The verb and what belongs to it, without helpers and subject."""
    return tuple(
        token
        for token in phrase(clause.verb)
        if token.dep_ not in ("aux", "auxpass", "neg") or token.head != clause.verb
    )


def _when(token: Token) -> bool:
    """Whether a word before the subject says when.

    Others there only introduce ("As for me", "Besides").
    """
    return token.ent_type_ in ("DATE", "TIME") or any(
        child.ent_type_ in ("DATE", "TIME") for child in token.children if child.dep_ == "pobj"
    )


def phrase(head: Token, *, bare: bool = False, split: bool = False) -> tuple[Token, ...]:
    """A head with what belongs to it, in order.

    Clauses, contrasts ("Denver, not Boston") and punctuation around words are left out.

    Args:
        head: The head.
        bare: Whether its own prepositional phrases and its article are left out: "Siemens" of
            "Siemens in Munich".
        split: Whether the nouns joined to it are left out, because each makes a fact of its own.
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
            if token.lower_ == "not" and _named_before(ordered[:place])
        ),
        len(ordered),
    )
    while contrast and (ordered[contrast - 1].dep_ == "cc" or ordered[contrast - 1].text == ","):
        contrast -= 1
    return tuple(ordered[:contrast])


def _named_before(tokens: Sequence[Token]) -> bool:
    return any(token.pos_ in ("NOUN", "PROPN", "NUM") for token in tokens)


def _members(head: Token, left_out: frozenset[str] = _LEFT_OUT) -> Iterator[Token]:
    yield head
    for child in head.children:
        if child.dep_ in left_out and not (
            _joins(child) or (child.dep_ == "relcl" and _tellable(child))
        ):
            continue
        if child.dep_ == "punct" and not (_within_word(child) or _lists(child)):
            continue
        if _discourse(child) or (child.dep_ == "appos" and child.pos_ != "PROPN"):
            continue
        yield from _members(child, _LEFT_OUT - _SUBJECTS)


def _tellable(clause: Token) -> bool:
    """Whether a relative clause says which one is meant and can be understood alone.

    "a friend who teaches music".
    """
    words = tuple(_members(clause, _LEFT_OUT - _SUBJECTS))
    return (
        _relates(clause)
        and len(words) <= MAX_RELATIVE_CLAUSE_WORDS
        and not _pruned(words)
        and not any(map(_open, words))
        and not loses_restriction(words, negated=False)
    )


def _relates(clause: Token) -> bool:
    """Whether a relative clause says which one is meant.

    No comma parts it from its noun, and it has a place for it.

    Without "who" or "that" it has none where its verb has an object: "I'm a nurse I have three
    cats" is two sentences.
    """
    if clause.left_edge.i == 0 or clause.left_edge.nbor(-1).is_punct:
        return False
    led = any(
        token.tag_ in _LEADING or token.lower_ == "that"
        for token in clause.doc[clause.left_edge.i : clause.i]
    )
    return led or clause.tag_ == "VB" or not any(child.dep_ == "dobj" for child in clause.rights)


def _pruned(words: Sequence[Token]) -> bool:
    """Whether a verb has lost the clause that it takes: "makes me think"."""
    return any(
        child.dep_ == "ccomp" and child.i > token.i
        for token in words
        if token.pos_ in ("VERB", "AUX")
        for child in token.children
    )


def _within_word(token: Token) -> bool:
    """Whether a sign is part of a word or number: the hyphen of "self-care", the dollar of "$5"."""
    if token.text in _INNER:
        return not token.whitespace_ and token.i > 0 and not token.nbor(-1).whitespace_
    return token.text in ("$", "%", "#")


def _lists(token: Token) -> bool:
    """Whether a comma parts nouns or adjectives that are joined."""
    return token.text == "," and any(
        other.i > token.i and other.dep_ == "conj" and _joins(other)
        for other in token.head.children
    )


def _joins(token: Token) -> bool:
    """Whether a word joins nouns or adjectives, or is one so joined.

    Joined verbs are clauses of their own.
    """
    if token.dep_ == "cc":
        return any(other.dep_ == "conj" and _joins(other) for other in token.head.children)
    nominal = ("NOUN", "PROPN", "ADJ", "NUM", "X")
    return (
        token.dep_ == "conj"
        and token.pos_ in nominal
        and token.head.pos_ in nominal
        and misattached_verb(token) is None
    )


def conjuncts(head: Token) -> tuple[Token, ...]:
    """A complement and the ones joined to it by "and" or "or", if all are of its sort."""
    others = [
        token for token in head.conjuncts if token.i > head.i and misattached_verb(token) is None
    ]
    if all(
        token.pos_ in ("NOUN", "PROPN", "X") or token.tag_ == head.tag_ == "VBG" for token in others
    ) and (head.pos_ != "VERB" or head.tag_ == "VBG"):
        return (head, *others)
    return (head,)


def complement(verb: Token, slot: str) -> Token | None:
    """The head of a complement.

    "dobj", "xcomp", "attr", "acomp", or the object of the preposition named.
    """
    for child in verb.children:
        if child.dep_ == slot or (
            slot == "dobj"
            and child.dep_ == "punct"
            and child.pos_ in ("NOUN", "PROPN")
            and child.i > verb.i
        ):
            return child
        if child.dep_ in ("prep", "agent") and child.lower_ == slot:
            return next((part for part in child.children if part.dep_ in ("pobj", "pcomp")), None)
        if child.dep_ == "prt":
            for prep in child.children:
                if prep.dep_ == "prep" and prep.lower_ == slot:
                    return next((part for part in prep.children if part.dep_ == "pobj"), None)
    return None


def is_self_contained(words: Sequence[Token], mentions: Sequence[TimeMention]) -> bool:
    """Whether a predicate can be understood without its conversation.

    No pronoun is left open and it is not too long.
    """
    if len(words) > MAX_PREDICATE_WORDS or (
        words[-1].pos_ in ("ADP", "DET", "PART", "SCONJ")
        and words[-1].dep_ != "prt"
        and not is_in_mention(words[-1], mentions)
        and not _relative(words[-1])
    ):
        return False
    return not _pruned(words) and not any(
        _open(token) and not is_in_mention(token, mentions) for token in words
    )


def loses_restriction(words: Sequence[Token], *, negated: bool) -> bool:
    """Whether what says which one is meant is left out.

    "the nurses I saw there", or, of a denial, "flowers that you gave me".
    """
    return any(
        child.dep_ == "relcl"
        and child not in words
        and _relates(child)
        and (negated or any(other.lower_ == "the" for other in token.lefts))
        for token in words
        for child in token.rights
    )


def _open(token: Token) -> bool:
    """Whether a word points at something that was said elsewhere.

    "other" and "lots" do not where what they count is named.
    """
    if token.lower_ not in UNRESOLVED or token.tag_ == "IN" or token.pos_ == "PROPN":
        return False
    if token.tag_ in ("WDT", "WP") and _relative(token):
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


def _relative(token: Token) -> bool:
    """Whether a word is part of a relative clause.

    "that", and the "on" of "a computer that I play games on".
    """
    return any(verb.dep_ == "relcl" for verb in token.ancestors)


def is_in_mention(token: Token, mentions: Sequence[TimeMention]) -> bool:
    """Whether a token belongs to a time."""
    return any(mention.start <= token.idx < mention.stop for mention in mentions)


def first_mention(words: Sequence[Token], mentions: Sequence[TimeMention]) -> TimeMention | None:
    """The first time among the words."""
    return next(
        (
            mention
            for mention in mentions
            if any(mention.start <= token.idx < mention.stop for token in words)
        ),
        None,
    )


def has_deictic_place(verb: Token) -> bool:
    """Whether the place is only "there" or "here"."""
    return any(child.lower_ in _PLACES for child in verb.children)


def _apart(child: Token, clause: Clause) -> bool:
    return clause.verb not in child.subtree and child not in clause.verb.ancestors


def _now(token: Token) -> bool:
    """Whether words only say that it is so now: "these days"."""
    return token.lower_ == "days" and any(child.lower_ == "these" for child in token.children)


def _discourse(token: Token) -> bool:
    if (
        token.dep_ == "aux"
        and token.lower_ in ("do", "does")
        and not any(child.dep_ == "neg" for child in token.head.children)
    ):
        return True
    if token.dep_ == "prep" and token.lower_ == "because":
        return True
    if (token.lower_ == "well" and token.head.pos_ not in ("VERB", "AUX")) or (
        token.lower_ == "too" and token.i < token.head.i
    ):
        return False
    if token.dep_ == "npadvmod" and token.lower_ in ("myself", "ourselves"):
        return True
    adverbial = token.dep_ in ("advmod", "npadvmod", "intj", "prep") and (
        token.lower_ in DISCOURSE or _now(token)
    )
    return adverbial and not any(child.dep_ in ("pobj", "pcomp") for child in token.children)
