"""Whom or what a clause is about, under a name that stays the same from turn to turn."""

from dataclasses import dataclass
from typing import Final

from hotmem.analysis.creatures import CREATURES, ELDERS
from hotmem.analysis.entities import is_name
from hotmem.analysis.wordlist import wordlist
from hotmem.extraction.relations import AIMS, EVENTFUL
from hotmem.extraction.retelling import OWN, SELF
from hotmem.types.parse import Token

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
_PASSING: Final = frozenset({"new", "current", "own", "little", "present"})
"""Words that do not tell one boss from another: "my new boss" is from now on "my boss"."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom or what a clause is about.

    Attributes:
        key: Its canonical name: "Ana", "Ana's sister", "Marta".
        shown: The same as a text shows it: "Ana's sister Marta".
        head: Its noun, lower case and singular; "" for a person.
        speaker: Whether it is the speaker.
        plural: Whether it is more than one.
        event: Whether it is "the" appointment or the like, of which only the time is known.
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

    @property
    def alive(self) -> bool:
        """Whether it is a person or a pet."""
        return self.speaker or not self.head or self.head in CREATURES


def resolve(token: Token | None, speaker: str) -> Subject | None:
    """What the head of a clause's subject stands for; None for what means nothing outside the conversation.

    Args:
        token: The head noun or pronoun; None for "I" left out.
        speaker: What the speaker is called.
    """
    if token is None:
        return Subject(speaker, speaker, "", True, False, 0, 0)
    stop = token.idx + len(token)
    if token.lower_ in SELF and token.pos_ == "PRON":
        if any(child.dep_ == "conj" for child in token.children):
            return None
        return Subject(speaker, speaker, "", True, False, token.idx, stop)
    if token.lower_ == "one" and (several := _counted(token)) is not None and (owned := possession(several, speaker)) is not None:
        return Subject(owned, f"one of {owned}", several.lemma_.lower(), False, False, token.idx, several.idx + len(several))
    if token.pos_ == "PRON":
        return None
    if any(child.dep_ in ("conj", "relcl", "prep", "acl") for child in token.children):
        return None
    owned = possession(token, speaker)
    if owned is None and token.lower_ in ELDERS and not any(child.dep_ in ("det", "poss", "compound") for child in token.children):
        owned = f"{speaker}'s {canonical(token.lower_)}"
    if owned is not None and (token.lemma_.lower() not in _EMPTY or token.lemma_.lower() in AIMS):
        name = next((apposed(child) for child in token.children if child.dep_ == "appos" and is_name(child)), "")
        plural = token.tag_ in ("NNS", "NNPS")
        return Subject(owned, f"{owned} {name}".strip(), token.lemma_.lower(), False, plural, token.left_edge.idx, stop)
    if token.lemma_.lower() in EVENTFUL and any(child.dep_ == "det" and child.lower_ == "the" for child in token.children):
        shown = " ".join(["the", *(child.lower_ for child in token.lefts if child.dep_ in ("amod", "compound", "nmod")), token.lower_])
        return Subject(f"{speaker}'s {shown[4:]}", shown, token.lemma_.lower(), False, False, token.left_edge.idx, stop, event=True)
    if (
        is_name(token)
        and token.ent_type_ not in ("GPE", "LOC", "DATE", "NORP", "LANGUAGE")
        and not any(child.dep_ in ("det", "poss") for child in token.children)
    ):
        words = apposed(token)
        return Subject(words, words, "", False, False, token.left_edge.idx, stop)
    if token.ent_type_ == "GPE" and is_name(token) and token.head.lemma_ in ("work", "live", "love", "like", "hate", "study"):
        words = apposed(token)
        return Subject(words, words, "", False, False, token.left_edge.idx, stop)
    return None


def _counted(one: Token) -> Token | None:
    """Of whom "one of my sisters" is one."""
    return next((part for child in one.children if child.lower_ == "of" for part in child.children if part.dep_ == "pobj"), None)


def possession(token: Token, speaker: str) -> str | None:
    """The canonical name of something the speaker or someone named owns: "my older sister's dog" → "Ana's older sister's dog"; None otherwise."""
    owner = next((child for child in token.children if child.dep_ == "poss"), None)
    if owner is None or token.pos_ not in ("NOUN", "PROPN"):
        return None
    if owner.lower_ in OWN:
        holder: str | None = speaker
    elif owner.pos_ == "PROPN" and is_name(owner):
        holder = apposed(owner)
    else:
        holder = possession(owner, speaker)
    if holder is None:
        return None
    words = [child.lower_ for child in token.lefts if child.dep_ in ("amod", "compound", "nmod") and child.is_alpha and child.lower_ not in _PASSING]
    mark = "'" if owner.tag_ == "NNS" else "'s"
    return f"{holder}{mark} {' '.join(canonical(word) for word in [*words, token.lower_])}"


def canonical(word: str) -> str:
    """The spelling that keys use."""
    return _SPELLING.get(word.lower(), word.lower())


def apposed(token: Token) -> str:
    """A name with the parts before it: "Doctor Lee"."""
    return " ".join([*(child.text for child in token.lefts if child.dep_ == "compound" and child.text[:1].isupper()), token.text])
