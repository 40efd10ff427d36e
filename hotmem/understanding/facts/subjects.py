"""Whom or what a clause is about, under a name that stays the same from turn to turn."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from hotmem.temporal import WEEKDAYS
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token
from hotmem.understanding.animate_nouns import ANIMATE, ELDERS, UNIQUE_ROLES
from hotmem.understanding.facts.predicates import DISCOURSE
from hotmem.understanding.facts.relations import EVENT_NOUNS, GOAL_NOUNS
from hotmem.understanding.facts.third_person import FIRST_PERSON_POSSESSIVES, FIRST_PERSON_PRONOUNS
from hotmem.understanding.query.entities import is_name

_SPELLING: Final = {
    "favorite": "favourite",
    "color": "colour",
    "neighbor": "neighbour",
    "mom": "mum",
    "roommate": "flatmate",
    "grandma": "grandmother",
    "grandpa": "grandfather",
}
"""Variants of one word; the key takes the second, so that both collide."""

_EMPTY: Final = wordlist(
    "thing point question problem idea guess fault pleasure day turn issue opinion mind life way bad answer heart week weekend morning "
    "evening night time plan advice understanding experience only whole god goodness thought feeling word bet hope favorite favourite "
    "name dream goal part luck"
)
_PASSING: Final = frozenset({"current", "own", "present"})
"""Words that do not tell one boss from another."""

_NEW: Final = frozenset({"new", "little"})
"""Words that tell one dog from another, but not one boss or phone: "my new boss" is from now on
"my boss"."""

MAX_NAME_TOKENS: Final = 4
"""Words of a name: "Anna-Lena Berg" has four with its hyphen."""

_FUNCTION_WORDS: Final = frozenset(
    {"PRON", "DET", "ADP", "CCONJ", "SCONJ", "AUX", "PUNCT", "NUM", "PART"}
)
_ADVERBS: Final = frozenset(WEEKDAYS) | wordlist(
    "today tomorrow tonight yesterday nowadays sometimes upstairs downstairs abroad overseas nearby outside inside home away together alone online"
)
"""Adverbs that stand between a noun and its verb, and are no names."""

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "dep", "intj"})
"""Relations to the verb under which a word is left out of the predicate."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom or what a clause is about.

    Attributes:
        key: Its canonical name: "Ana", "Ana's sister", "Ana's son Max", "Marta".
        shown: The same as a text shows it: "Ana's sister Marta".
        head: Its noun, lower case and singular; "" for a person.
        speaker: Whether it is the speaker.
        plural: Whether it is more than one.
        event: Whether it is "the" appointment or the like, of which only the time is known.
        any_of: Whether it is some one of several: "one of my sisters".
        start: First character of its words.
        stop: One past the last character.
    """

    key: str
    shown: str
    head: str
    speaker: bool
    plural: bool
    start: int
    stop: int
    event: bool = False
    any_of: bool = False

    @property
    def alive(self) -> bool:
        """Whether it is a person or a pet."""
        return self.speaker or not self.head or self.head in ANIMATE


def resolve(token: Token | None, speaker: str) -> Subject | None:
    """What the head of a clause's subject stands for.

    None for what means nothing outside the conversation.

    Args:
        token: The head noun or pronoun; None for "I" left out.
        speaker: What the speaker is called.
    """
    if token is None:
        return Subject(speaker, speaker, "", True, False, 0, 0)
    stop = token.idx + len(token)
    if token.lower_ in FIRST_PERSON_PRONOUNS and token.pos_ == "PRON":
        if any(child.dep_ == "conj" for child in token.children):
            return None
        return Subject(speaker, speaker, "", True, False, token.idx, stop)
    if (
        token.lower_ == "one"
        and (several := _counted(token)) is not None
        and (owned := possession(several, speaker)) is not None
    ):
        return Subject(
            owned,
            f"one of {owned}",
            several.lemma_.lower(),
            False,
            False,
            token.idx,
            several.idx + len(several),
            any_of=True,
        )
    if token.pos_ == "PRON":
        return None
    if any(child.dep_ in ("conj", "relcl", "prep", "acl") for child in token.children):
        return None
    if (thing := _of_named(token)) is not None:
        return resolve(thing, speaker)
    if (introduced := _introduced(token, speaker)) is not None:
        key, head = introduced
        return Subject(key, key, head, False, False, token.left_edge.idx, stop)
    owned = possession(token, speaker)
    if (
        owned is None
        and token.lower_ in ELDERS
        and not any(child.dep_ in ("det", "poss", "compound") for child in token.children)
    ):
        owned = f"{speaker}'s {canonical(token.lower_)}"
    if owned is not None and (
        token.lemma_.lower() not in _EMPTY or token.lemma_.lower() in GOAL_NOUNS
    ):
        name, within = _name(token)
        called = f"{owned} {name}".strip()
        shown = called if within else owned
        plural = token.tag_ in ("NNS", "NNPS")
        return Subject(
            called, shown, token.lemma_.lower(), False, plural, token.left_edge.idx, stop
        )
    if token.lemma_.lower() in EVENT_NOUNS and any(
        child.dep_ == "det" and child.lower_ == "the" for child in token.children
    ):
        shown = " ".join(["the", *_qualifiers(token, before=token), token.lower_])
        return Subject(
            f"{speaker}'s {shown[4:]}",
            shown,
            token.lemma_.lower(),
            False,
            False,
            token.left_edge.idx,
            stop,
            event=True,
        )
    if (
        is_name(token)
        and token.ent_type_ not in ("GPE", "LOC", "DATE", "NORP", "LANGUAGE")
        and not any(child.dep_ in ("det", "poss") for child in token.children)
    ):
        words = full_name(token)
        return Subject(words, words, "", False, False, token.left_edge.idx, stop)
    if (
        token.ent_type_ == "GPE"
        and is_name(token)
        and token.head.lemma_ in ("work", "live", "love", "like", "hate", "study")
    ):
        words = full_name(token)
        return Subject(words, words, "", False, False, token.left_edge.idx, stop)
    return None


def _of_named(kin: Token) -> Token | None:
    """What belongs to the one named.

    "husband" where "my sister Beth's husband" is read as a sister who is a husband.
    """
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


def _name(noun: Token) -> tuple[str, bool]:
    """The name behind a noun, also in lower case, and whether it is left out of the predicate.

    "Max" of "my son Max".
    """
    if noun.lemma_.lower() in ANIMATE and (words := _unaccounted(noun)):
        swallowed = any(word.head == noun.head and word.dep_ not in _SUBJECTS for word in words)
        return _capitalised(noun.doc[words[0].i : words[-1].i + 1].text), not swallowed
    for child in noun.children:
        if child.dep_ == "appos" and (is_name(child) or child.ent_type_ == "PERSON"):
            return _capitalised(full_name(child)), True
    return "", True


def _unaccounted(noun: Token) -> list[Token]:
    """The words between someone's noun and the verb or possessive ending, but for adverbs.

    Whatever they were parsed as, a name.
    """
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
    words = list(takewhile(_may_name, noun.doc[noun.i + 1 : stop]))
    return words if len(words) <= MAX_NAME_TOKENS and (not words or words[0].is_alpha) else []


def _may_name(token: Token) -> bool:
    """Whether a word may be part of a name, of whatever sort the parser takes it for.

    A hyphen within one is.
    """
    if token.text == "-":
        return not token.whitespace_ and not token.nbor(-1).whitespace_
    adverb = token.lower_ in DISCOURSE | _ADVERBS or (
        token.pos_ == "ADV" and token.lower_.endswith("ly")
    )
    stop = token.is_stop and token.is_lower
    return token.is_alpha and not (adverb or stop or token.pos_ in _FUNCTION_WORDS)


def _introduced(name: Token, speaker: str) -> tuple[str, str] | None:
    """The key of someone named whom the words before the name say to be the speaker's, and as what.

    "my son Max", where Max is the subject.
    """
    if name.pos_ != "PROPN" or not (is_name(name) or name.ent_type_ == "PERSON"):
        return None
    kin = _kin_before(name)
    if kin is None:
        return None
    owned = possession(kin, speaker) or (
        possession(name, speaker, noun=kin) if kin.head == name else None
    )
    return (
        None if owned is None else (f"{owned} {_capitalised(full_name(name))}", kin.lemma_.lower())
    )


def _kin_before(name: Token) -> Token | None:
    """The noun right before a name that says whose relative, friend or pet it is."""
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


def _capitalised(name: str) -> str:
    return re.sub(r"(?<![\w'’])[^\W\d_]", lambda match: match[0].upper(), name)


def _counted(one: Token) -> Token | None:
    """Of whom "one of my sisters" is one."""
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
    """The canonical name of something the speaker or someone named owns.

    "my older sister's dog" → "Ana's older sister's dog"; None otherwise.

    Args:
        token: The head of the phrase.
        speaker: What the speaker is called.
        noun: What is owned where the head is its name: "friend" in "my friend Anna".
    """
    noun = noun or token
    owner = next((child for child in token.children if child.dep_ == "poss"), None)
    if owner is None or token.pos_ not in ("NOUN", "PROPN"):
        return None
    if owner.lower_ in FIRST_PERSON_POSSESSIVES:
        holder: str | None = speaker
    elif owner.pos_ == "PROPN" and is_name(owner):
        introduced = _introduced(owner, speaker)
        holder = introduced[0] if introduced is not None else full_name(owner)
    else:
        holder = possession(owner, speaker)
        if holder is not None:
            holder = f"{holder} {_name(owner)[0]}".strip()
    if holder is None:
        return None
    passing = _PASSING if noun.lemma_.lower() in ANIMATE - UNIQUE_ROLES else _PASSING | _NEW
    words = [word for word in _qualifiers(token, before=noun) if word not in passing]
    mark = "'" if owner.tag_ == "NNS" else "'s"
    return f"{holder}{mark} {' '.join(canonical(word) for word in [*words, noun.lower_])}"


def _qualifiers(head: Token, before: Token) -> list[str]:
    """What says which one of its kind.

    "work phone" of "my work phone number", "t-shirt" of "my T-shirt size".
    """
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
    """The spelling that keys use."""
    return _SPELLING.get(word.lower(), word.lower())


def full_name(token: Token) -> str:
    """A name with the parts before it: "Doctor Lee"."""
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
