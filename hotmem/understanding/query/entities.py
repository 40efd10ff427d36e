"""Entity recognition: spaCy's entities, runs of proper nouns, stored names, nouns asked about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hotmem.temporal import CALENDAR
from hotmem.text.stemming import terms
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.lexicon import ACQUAINTANCES, ELDERS, FAMILY, PETS

MAX_NGRAM: Final = 3
"""Length of the longest n-gram."""

_WORD: Final = re.compile(r"[\w&.'’-]*\w")
_POSSESSIVE: Final = re.compile(r"['’]s?(?!\w)")

ENTITY_TYPES: Final = frozenset(
    {"PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "PRODUCT", "WORK_OF_ART"}
)
"""OntoNotes entity types that are names; dates, quantities and nationalities are not."""

_TIMES: Final = CALENDAR | wordlist(
    "march may today tomorrow yesterday tonight mon tue wed thu fri sat sun jan feb mar apr "
    "jun jul aug sep sept oct nov dec am pm"
)
_NOT_NAMES: Final = ELDERS | wordlist(
    "hi hello hey thanks thank ok okay yes yeah yep nope no wow oh ah hmm haha lol omg bye "
    "cheers congrats congratulations sorry please "
    "sure absolutely definitely great awesome cool nice aww yay whoa dear btw idk imo god gosh "
    "alexa siri good well best mr mrs ms dr i im"
)
_INNER: Final = re.compile(r"(?<=\w)['’](?=\w)")
"""The apostrophe within a name: "O'Brien"."""

_QUOTED: Final = re.compile(r"^\W+|(?:['’]s)?\W*$")


def find_entities(doc: Doc, known: Sequence[str] = ()) -> tuple[str, ...]:
    """Find the names in an utterance, as written, in order, without duplicates.

    Args:
        doc: The parsed utterance.
        known: Stored names, which match in any letter case, as whole words.
    """
    spans = sorted(
        (*known_spans(doc.text, known), *_named_spans(doc)), key=lambda span: (span[0], -span[1])
    )
    names: dict[str, str] = {}
    stop = -1
    for first, last in spans:
        if first < stop:
            continue
        stop = last
        name = doc.text[first:last]
        names.setdefault(name.casefold(), name)
    return tuple(names.values())


def is_name(token: Token) -> bool:
    """Whether a token is part of a name: a capitalised proper noun, not a time or greeting."""
    return token.pos_ == "PROPN" and token.text[:1].isupper() and _can_be_name(token)


def _can_be_name(token: Token) -> bool:
    return (
        token.lower_ not in _TIMES
        and token.lower_ not in _NOT_NAMES
        and len(token) > 1
        and _INNER.sub("", token.text).isalpha()
    )


def _named_spans(doc: Doc) -> Iterator[tuple[int, int]]:
    taken = [False] * len(doc)
    for entity in doc.ents:
        words = [token for token in entity if _can_be_name(token)]
        if (
            entity.label_ in ENTITY_TYPES
            and words
            and any(token.pos_ == "PROPN" and not token.is_lower for token in words)
        ):
            first = entity[1:] if entity[0].pos_ in ("DET", "PRON") and len(entity) > 1 else entity
            for token in entity:
                taken[token.i] = True
            yield _trimmed(first)
    start: int | None = None
    for index in range(len(doc) + 1):
        named = index < len(doc) and not taken[index] and is_name(doc[index])
        if named and start is None:
            start = index
        elif not named and start is not None:
            yield doc[start].idx, doc[index - 1].idx + len(doc[index - 1])
            start = None


def _trimmed(span: Span) -> tuple[int, int]:
    """The character span without quotes, punctuation and possessive endings at its ends."""
    text = span.text
    match = re.search(r"\w", text)
    head = match.start() if match else 0
    tail = _QUOTED.sub("", text[head:])
    return span.start_char + head, span.start_char + head + (len(tail) or len(text) - head)


def known_spans(text: str, known: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Find the character spans of names in a text, in any letter case, as whole words."""
    lowered = text.casefold()
    if len(lowered) != len(text):
        return
    for name in known:
        folded = name.casefold()
        start = lowered.find(folded) if folded else -1
        while start >= 0:
            stop = start + len(folded)
            if not (lowered[start - 1 : start].isalnum() or lowered[stop : stop + 1].isalnum()):
                yield start, stop
            start = lowered.find(folded, stop)


def word_ngrams(text: str) -> tuple[str, ...]:
    """Every n-gram of one to `MAX_NGRAM` words, without possessive endings and duplicates."""
    words = _WORD.findall(_POSSESSIVE.sub("", text))
    runs = (
        " ".join(words[start : start + size])
        for size in range(1, MAX_NGRAM + 1)
        for start in range(len(words) - size + 1)
    )
    return tuple(dict.fromkeys(runs))


_WORDS: Final = word_sets(__file__)

RELATIONAL_NOUNS: Final = _WORDS["relational_nouns"]
"""Relational nouns, which need a complement: "the symptoms" of what."""

MAX_TOKENS: Final = 40
"""Number of tokens of a turn that are read; long answers name their topic first."""

_GENERIC_NOUNS: Final = _WORDS["generic_nouns"]
_TIME_WORDS: Final = CALENDAR | _WORDS["times"]
_GENERIC_ADJECTIVES: Final = _WORDS["generic_adjectives"]
PERSON_NOUNS: Final = (
    FAMILY | ACQUAINTANCES | wordlist("person woman man guy lady author artist singer player actor")
)
_OF: Final = wordlist("of for about between")
_IN: Final = wordlist("in at near around")
_MODIFIERS: Final = wordlist("compound amod nmod nummod poss punct conj")
_GERUND_ROLES: Final = wordlist("csubj pcomp")
_SUBJECTS: Final = wordlist("nsubj nsubjpass csubj")
_ROLE_WEIGHTS: Final = {
    "nsubj": 3.0,
    "nsubjpass": 3.0,
    "csubj": 3.0,
    "attr": 2.5,
    "dobj": 2.5,
    "ROOT": 2.5,
    "pobj": 2.0,
    "pcomp": 2.0,
}


class MentionType(StrEnum):
    """The type of a mention's referent."""

    THING = "thing"
    PERSON = "person"
    ANIMAL = "animal"
    PLACE = "place"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase that mentions something.

    Attributes:
        phrase: The phrase, without article and generic adjectives.
        words: Its stems.
        head: The stem of its head.
        type: The type of its referent.
        plural: Whether it is plural.
        named: Whether it is a proper name.
        relational: Whether its head is a relational noun: "the symptoms".
        weight: Salience in its turn: subjects over objects over other roles (Grosz, Joshi and
            Weinstein 1995).
    """

    phrase: str
    words: frozenset[str]
    head: str
    type: MentionType
    plural: bool
    named: bool
    relational: bool
    weight: float


def find_mentions(doc: Doc) -> Iterator[Mention]:
    """Find the mentions in the first `MAX_TOKENS` tokens of a turn, in order."""
    return (make_mention(token, words) for token, words in find_heads(doc))


def find_heads(doc: Doc) -> Iterator[tuple[Token, list[Token]]]:
    """Find the heads of the mentions in the first `MAX_TOKENS` tokens, with each one's words."""
    for token in doc[:MAX_TOKENS]:
        if token.tag_ == "VBG" and token.dep_ in _GERUND_ROLES:
            yield token, _activity(token)
        elif _is_mention_head(token):
            yield token, _phrase(token)


def content_stems(doc: Doc) -> frozenset[str]:
    """The stems of a text's words that are no function words."""
    return frozenset(stem for token in doc if not token.is_stop for stem in terms(token.text))


def is_time(token: Token) -> bool:
    """Whether a word is part of a time expression."""
    return token.lower_ in _TIME_WORDS or token.ent_type_ in ("DATE", "TIME")


def is_place(token: Token) -> bool:
    """Whether a word names a place, by entity type, or as a name or possession after "in"."""
    if token.ent_type_ in ("GPE", "LOC", "FAC"):
        return True
    return (
        token.dep_ == "pobj"
        and token.head.lower_ in _IN
        and not is_time(token)
        and (token.pos_ == "PROPN" or _has_possessor(token))
    )


def _has_possessor(token: Token) -> bool:
    return any(child.dep_ == "poss" for child in token.children)


def _is_mention_head(token: Token) -> bool:
    if is_time(token):
        return (
            token.dep_ not in _MODIFIERS
            and token.pos_ in ("NOUN", "PROPN")
            and token.lower_ not in _GENERIC_NOUNS
            and token.is_alpha
        )
    if token.pos_ not in ("NOUN", "PROPN") and not _is_mistagged_noun(token):
        return False
    if (
        token.dep_ in ("compound", "nmod")
        and token.head.pos_ in ("NOUN", "PROPN")
        and token.head.i > token.i
    ):
        return False
    if len(token) < 2 or token.lower_ in ("one", "ones"):
        return False
    if (
        _GENERIC_NOUNS.intersection((token.lower_, token.lemma_.lower()))
        and len(_phrase(token)) == 1
    ):
        return False
    return any(map(str.isalnum, token.text)) and (not token.is_stop or token.pos_ == "PROPN")


def _is_mistagged_noun(token: Token) -> bool:
    """Whether the tagger took a rare noun for another part of speech.

    A subject, and the complement of "what is …", are nouns.
    """
    if not token.is_alpha or token.is_stop or token.pos_ in ("NOUN", "PROPN", "PRON", "DET", "NUM"):
        return False
    asked = (
        token.head.lemma_ == "be"
        and token.doc[0].tag_ == "WP"
        and not any(child.dep_ in _SUBJECTS and child.tag_ != "WP" for child in token.head.children)
    )
    return token.dep_ in (*_SUBJECTS, "attr", "pobj") or (token.dep_ == "acomp" and asked)


def _phrase(token: Token) -> list[Token]:
    if is_time(token):
        before = token.nbor(-1) if token.i else token
        return (
            [before, token]
            if before.lower_ in ("this", "last", "next")
            or (before.dep_ == "compound" and is_time(before))
            else [token]
        )
    return [
        *(word for word in token.doc[token.left_edge.i : token.i] if _in_phrase(word, token)),
        token,
    ]


def _in_phrase(word: Token, head: Token) -> bool:
    over = word
    while over.head != head and over.dep_ in _MODIFIERS:
        over = over.head
    if over.head != head or not any(map(str.isalnum, word.text)) or word.lower_ in ("'s", "’s"):
        return False
    if over.dep_ == "poss":
        return over.pos_ == "PROPN"
    if word.dep_ in ("compound", "nmod", "conj"):
        return True
    if word.dep_ == "nummod":
        return word.text.isdigit()
    return (
        word.dep_ == "amod"
        and word.tag_ not in ("JJS", "JJR")
        and word.lower_ not in _GENERIC_ADJECTIVES
    )


def _activity(token: Token) -> list[Token]:
    words = [token]
    for child in token.rights:
        if child.dep_ in ("dobj", "attr", "acomp"):
            words += [*(word for word in child.lefts if word.dep_ in ("amod", "compound")), child]
    return words


def make_mention(token: Token, words: list[Token]) -> Mention:
    """Make the mention of a head and its words."""
    stems = frozenset(
        stem
        for word in words
        if word.i == token.i or not word.is_stop or word.pos_ == "PROPN"
        for stem in terms(word.text)
    )
    named = token.pos_ == "PROPN"
    relational = (
        token.lemma_.lower() in RELATIONAL_NOUNS
        and not named
        and not any(word.dep_ == "compound" for word in words)
    )
    kind = _mention_type(token)
    weight = _ROLE_WEIGHTS.get(token.head.dep_ if token.dep_ == "appos" else token.dep_, 1.0)
    if relational:
        weight -= 3.0
    if (token.dep_ == "pobj" and token.head.lower_ in _OF) or token.dep_ == "poss":
        weight += 0.5
    if named:
        weight += 0.7
    if kind is MentionType.TIME:
        weight -= 3.0
    return Mention(
        phrase=" ".join(word.text for word in words),
        words=stems,
        head=(terms(token.text) or [token.lower_])[-1],
        type=kind,
        plural=token.tag_ in ("NNS", "NNPS") or bool(token.conjuncts),
        named=named,
        relational=relational,
        weight=weight,
    )


def _mention_type(token: Token) -> MentionType:
    if is_time(token):
        return MentionType.TIME
    lemmas = {token.lemma_.lower(), *([token.head.lemma_.lower()] if token.dep_ == "appos" else [])}
    if lemmas & PETS:
        return MentionType.ANIMAL
    if lemmas & PERSON_NOUNS or token.ent_type_ == "PERSON":
        return MentionType.PERSON
    return MentionType.PLACE if is_place(token) else MentionType.THING
