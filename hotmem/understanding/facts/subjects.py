"""Resolution of a clause's subject to a key that is the same in every turn."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from hotmem.temporal import WEEKDAYS
from hotmem.text.word_sets import word_sets
from hotmem.types.understanding import Token
from hotmem.understanding.facts.relations import DISCOURSE
from hotmem.understanding.facts.third_person import FIRST_PERSON_POSSESSIVES, FIRST_PERSON_PRONOUNS
from hotmem.understanding.lexicon import ANIMATE, DETAIL_NOUNS, ELDERS, EVENT_NOUNS, UNIQUE_ROLES
from hotmem.understanding.query.entities import is_name

_WORDS: Final = word_sets(__file__)

_SPELLING_VARIANTS: Final = {
    "favorite": "favourite",
    "color": "colour",
    "neighbor": "neighbour",
    "mom": "mum",
    "roommate": "flatmate",
    "grandma": "grandmother",
    "grandpa": "grandfather",
}
"""Spelling variants, each with the form used in keys."""

_EMPTY_NOUNS: Final = _WORDS["empty_nouns"]
_TEMPORARY_ADJECTIVES: Final = frozenset({"current", "own", "present"})
"""Adjectives that do not distinguish one boss from another."""

_NEWNESS_ADJECTIVES: Final = frozenset({"new", "little"})
"""Adjectives that distinguish people and pets, but not roles and things: "my new boss" is "my
boss"."""

_NEW: Final = _TEMPORARY_ADJECTIVES | _NEWNESS_ADJECTIVES

MAX_NAME_TOKENS: Final = 4
"""Tokens of the longest name: "Anna-Lena Berg" has four."""

_FUNCTION_WORDS: Final = frozenset(
    {"PRON", "DET", "ADP", "CCONJ", "SCONJ", "AUX", "PUNCT", "NUM", "PART"}
)
_ADVERBS: Final = frozenset(WEEKDAYS) | _WORDS["adverbs"]
"""Adverbs that may stand between a noun and its verb."""

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "dep", "intj"})
"""Labels of words that are left out of the predicate."""

_PERSONAL_VERBS: Final = frozenset({"work", "live", "love", "like", "hate", "study"})
"""Verbs by which a name that the parser takes for a place is that of a person."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The resolved subject of a clause.

    Attributes:
        key: Canonical name: "Ana", "Ana's sister", "Ana's son Max", "Marta".
        shown: The name as texts show it: "Ana's sister Marta".
        head: Its noun, lower case and singular; "" for a person.
        start: First character of its words.
        stop: One past the last character.
        speaker: Whether it is the speaker.
        plural: Whether it is plural.
        event: Whether it is "the" appointment or another event, of which only the time is kept.
        any_of: Whether it is one of several: "one of my sisters".
    """

    key: str
    shown: str
    head: str
    start: int
    stop: int
    speaker: bool = False
    plural: bool = False
    event: bool = False
    any_of: bool = False

    @property
    def alive(self) -> bool:
        """Whether it is a person or a pet."""
        return self.speaker or not self.head or self.head in ANIMATE


def resolve(token: Token | None, speaker: str) -> Subject | None:
    """Resolve the head of a clause's subject; None if it depends on the conversation.

    Args:
        token: The head noun or pronoun; None for a dropped "I".
        speaker: The speaker's name.
    """
    if token is None:
        return Subject(speaker, speaker, "", 0, 0, speaker=True)
    stop, noun = token.idx + len(token), token.lemma_.lower()
    if token.lower_ in FIRST_PERSON_PRONOUNS and token.pos_ == "PRON":
        if any(child.dep_ == "conj" for child in token.children):
            return None
        return Subject(speaker, speaker, "", token.idx, stop, speaker=True)
    if (
        token.lower_ == "one"
        and (several := _partitive_object(token)) is not None
        and (owned := possession(several, speaker)) is not None
    ):
        head, stop = several.lemma_.lower(), several.idx + len(several)
        return Subject(owned, f"one of {owned}", head, token.idx, stop, any_of=True)
    if token.pos_ == "PRON":
        return None
    if any(child.dep_ in ("conj", "relcl", "prep", "acl") for child in token.children):
        return None
    if (thing := _possession_of_named(token)) is not None:
        return resolve(thing, speaker)
    start = token.left_edge.idx
    if (introduced := _introduced_name(token, speaker)) is not None:
        key, head = introduced
        return Subject(key, key, head, start, stop)
    owned = possession(token, speaker)
    if (
        owned is None
        and token.lower_ in ELDERS
        and not any(child.dep_ in ("det", "poss", "compound") for child in token.children)
    ):
        owned = f"{speaker}'s {canonical(token.lower_)}"
    if owned is not None and noun not in _EMPTY_NOUNS:
        name, within = _name_of(token)
        called = f"{owned} {name}".strip()
        shown = called if within else owned
        plural = token.tag_ in ("NNS", "NNPS")
        return Subject(called, shown, noun, start, stop, plural=plural)
    if any(child.dep_ == "det" and child.lower_ == "the" for child in token.children):
        qualifiers = _qualifiers(token, before=token)
        if noun in DETAIL_NOUNS and (kept := [word for word in qualifiers if word not in _NEW]):
            named = " ".join([*kept, token.lower_])
            return Subject(f"{speaker}'s {named}", f"the {named}", noun, start, stop)
        if noun in EVENT_NOUNS:
            named = " ".join([*qualifiers, token.lower_])
            return Subject(f"{speaker}'s {named}", f"the {named}", noun, start, stop, event=True)
    undetermined = not any(child.dep_ in ("det", "poss") for child in token.children)
    someone = undetermined and token.ent_type_ not in ("GPE", "LOC", "DATE", "NORP", "LANGUAGE")
    acts = token.ent_type_ == "GPE" and token.head.lemma_ in _PERSONAL_VERBS
    if is_name(token) and (someone or acts):
        words = full_name(token)
        return Subject(words, words, "", start, stop)
    return None


def _possession_of_named(kin: Token) -> Token | None:
    """Return "husband" if "my sister Beth's husband" was parsed as an apposition."""
    things = (
        child for child in kin.children if child.dep_ == "appos" and child.pos_ in ("NOUN", "PROPN")
    )
    return next(
        (
            thing
            for thing in things
            if any(part.dep_ == "poss" and part.i > kin.i for part in thing.children)
        ),
        None,
    )


def _name_of(noun: Token) -> tuple[str, bool]:
    """Return the name after a noun ("my son Max"), and whether the predicate excludes it."""
    if noun.lemma_.lower() in ANIMATE and (words := _words_before_verb(noun)):
        swallowed = any(word.head == noun.head and word.dep_ not in _SUBJECTS for word in words)
        return _capitalize(noun.doc[words[0].i : words[-1].i + 1].text), not swallowed
    for child in noun.children:
        if child.dep_ == "appos" and (is_name(child) or child.ent_type_ == "PERSON"):
            return _capitalize(full_name(child)), True
    return "", True


def _words_before_verb(noun: Token) -> list[Token]:
    """Return the words between an animate noun and its verb or possessive that can be a name."""
    verb = noun.head
    if noun.dep_ == "poss":
        ends = [token.i for token in noun.doc[noun.i + 1 :] if token.tag_ == "POS"]
    elif noun.dep_ in ("nsubj", "nsubjpass"):
        ends = [
            token.i
            for token in (verb, *verb.children)
            if token == verb or token.dep_ in ("aux", "auxpass", "neg")
        ]
    else:
        ends = []
    stop = min((end for end in ends if end > noun.i), default=noun.i)
    words = list(takewhile(_can_be_name, noun.doc[noun.i + 1 : stop]))
    return words if len(words) <= MAX_NAME_TOKENS and (not words or words[0].is_alpha) else []


def _can_be_name(token: Token) -> bool:
    """Whether a word or its inner hyphen may be part of a name, whatever its tag."""
    if token.text == "-":
        return not token.whitespace_ and not token.nbor(-1).whitespace_
    adverb = token.lower_ in DISCOURSE | _ADVERBS or (
        token.pos_ == "ADV" and token.lower_.endswith("ly")
    )
    stop = token.is_stop and token.is_lower
    return token.is_alpha and not (adverb or stop or token.pos_ in _FUNCTION_WORDS)


def _introduced_name(name: Token, speaker: str) -> tuple[str, str] | None:
    """Return key and role of a name that is introduced: "Max" in "my son Max"."""
    if name.pos_ != "PROPN" or not (is_name(name) or name.ent_type_ == "PERSON"):
        return None
    kin = _role_noun_before(name)
    if kin is None:
        return None
    owned = possession(kin, speaker) or (
        possession(name, speaker, noun=kin) if kin.head == name else None
    )
    return (
        None if owned is None else (f"{owned} {_capitalize(full_name(name))}", kin.lemma_.lower())
    )


def _role_noun_before(name: Token) -> Token | None:
    """Return the noun before a name that gives the person's role or the pet's species."""
    first = min(
        [
            name.i,
            *(
                child.i
                for child in name.lefts
                if child.dep_ == "compound" and child.text[:1].isupper()
            ),
        ]
    )
    before = name.doc[first - 1] if first else None
    return (
        before
        if before is not None and before.pos_ == "NOUN" and before.lemma_.lower() in ANIMATE
        else None
    )


def _capitalize(name: str) -> str:
    return re.sub(r"(?<![\w'’])[^\W\d_]", lambda match: match[0].upper(), name)


def _partitive_object(one: Token) -> Token | None:
    """Return "sisters" of "one of my sisters"."""
    return next(
        (
            part
            for child in one.children
            if child.lower_ == "of"
            for part in child.children
            if part.dep_ == "pobj"
        ),
        None,
    )


def possession(token: Token, speaker: str, *, noun: Token | None = None) -> str | None:
    """Return the canonical name of something that the speaker or someone named owns.

    "my older sister's dog" → "Ana's older sister's dog"; None otherwise.

    Args:
        token: The head of the phrase.
        speaker: The speaker's name.
        noun: The owned noun, if the head is its name: "friend" in "my friend Anna".
    """
    noun = noun or token
    owner = next((child for child in token.children if child.dep_ == "poss"), None)
    if owner is None or token.pos_ not in ("NOUN", "PROPN"):
        return None
    if owner.lower_ in FIRST_PERSON_POSSESSIVES:
        holder: str | None = speaker
    elif owner.pos_ == "PROPN" and is_name(owner):
        introduced = _introduced_name(owner, speaker)
        holder = introduced[0] if introduced is not None else full_name(owner)
    else:
        holder = possession(owner, speaker)
        if holder is not None:
            holder = f"{holder} {_name_of(owner)[0]}".strip()
    if holder is None:
        return None
    passing = (
        _TEMPORARY_ADJECTIVES
        if noun.lemma_.lower() in ANIMATE - UNIQUE_ROLES
        else _TEMPORARY_ADJECTIVES | _NEWNESS_ADJECTIVES
    )
    words = [word for word in _qualifiers(token, before=noun) if word not in passing]
    mark = "'" if owner.tag_ == "NNS" else "'s"
    return f"{holder}{mark} {' '.join(canonical(word) for word in [*words, noun.lower_])}"


def _qualifiers(head: Token, before: Token) -> list[str]:
    """Return the modifiers of a noun: "work phone" of "my work phone number"."""
    kept = sorted(
        (token for token in _qualifying(head) if token.i < before.i), key=lambda token: token.i
    )
    words: list[str] = []
    for place, token in enumerate(kept):
        joined = place and kept[place - 1].i == token.i - 2 and token.nbor(-1).text == "-"
        words[-1:] = [f"{words[-1]}-{token.lower_}"] if joined else [*words[-1:], token.lower_]
    return words


def _qualifying(noun: Token) -> Iterator[Token]:
    for child in noun.lefts:
        if child.dep_ in ("amod", "compound", "nmod") and child.is_alpha:
            yield child
            yield from _qualifying(child)


def canonical(word: str) -> str:
    """Return the spelling used in keys."""
    return _SPELLING_VARIANTS.get(word.lower(), word.lower())


def full_name(token: Token) -> str:
    """Return a name with the parts before it: "Doctor Lee"."""
    return " ".join(
        [
            *(
                child.text
                for child in token.lefts
                if child.dep_ == "compound" and child.text[:1].isupper()
            ),
            token.text,
        ]
    )
