"""Words of an utterance that point outside it: "that", "she", "again", "the other one"."""

import re
from typing import Final

from spacy.tokens import Doc, Token

from hotmem.analysis.wordlist import wordlist

PRONOUNS: Final = wordlist("he she they it him her them his hers its their theirs himself herself themselves itself")
_DEMONSTRATIVES: Final = wordlist("this that these those")
_PLACES: Final = frozenset({"here", "there"})
_PEOPLE: Final = wordlist("he she him her his hers himself herself they them their theirs themselves")
_IMPLICIT: Final = re.compile(
    r"\b(?:the (?:same|other|second|first|last|previous|next)(?: (?:one|thing|place|time|way|person|guy|book|issue|problem))?|"
    r"as usual|like before|like last time|(?:the|that|this) (?:problem|issue|thing|one|guy|place|topic|idea|plan)|"
    r"(?:tell me |any)?more (?:about|on) (?:that|it|this)|else|"
    r"again|earlier|last time|before that|back then|the other day|that time|anymore|any more)\b",
    re.IGNORECASE,
)
_TIMED: Final = re.compile(r"^the (?:first|last|next|previous|other) time$", re.IGNORECASE)


def find_ambiguous(doc: Doc) -> tuple[str, ...]:
    """The words that point elsewhere, lower case, in order, once each.

    A pronoun counts only when nothing before it in the utterance can be what it stands for; "it" of the weather ("it rains"), "there is" and the
    relative "that" never count.
    """
    found: dict[str, int] = {}
    for token in doc:
        if _points_outside(token):
            found.setdefault(token.lower_, token.idx)
    for match in _IMPLICIT.finditer(doc.text):
        phrase = match[0].lower()
        if not _TIMED.match(phrase) and not any(word in phrase.split() for word in found):
            found.setdefault(phrase, match.start())
    return tuple(sorted(found, key=found.__getitem__))


def _points_outside(token: Token) -> bool:
    word = token.lower_
    if word in PRONOUNS and token.pos_ in ("PRON", "DET", "ADJ"):
        return token.dep_ != "expl" and not _impersonal(token) and not _antecedent_before(token)
    if word in _DEMONSTRATIVES:
        return token.tag_ == "DT" and token.dep_ not in ("mark", "det", "advmod") and token.head.i >= token.i - 4
    if word in _PLACES:
        return token.dep_ == "advmod" and token.i > 0 and not _place_before(token)
    return False


def _impersonal(token: Token) -> bool:
    """Whether an "it" stands for nothing: the weather, the time, or a clause that follows."""
    if token.lower_ != "it" or token.dep_ not in ("nsubj", "nsubjpass"):
        return False
    verb = token.head
    if verb.lemma_ in ("rain", "snow", "seem", "take"):
        return True
    return verb.lemma_ == "be" and any(
        child.dep_ in ("acomp", "attr") and (child.lemma_ in ("time", "cold", "hot", "sunny", "late")) for child in verb.children
    )


def _antecedent_before(token: Token) -> bool:
    plural = token.lower_ in ("they", "them", "their", "theirs", "themselves")
    for other in token.doc[: token.i]:
        if other.pos_ not in ("NOUN", "PROPN") or other.dep_ == "compound" or other.ent_type_ in ("DATE", "TIME"):
            continue
        if token.lower_ in _PEOPLE:
            if other.pos_ == "PROPN" or plural or _person(other):
                return True
        elif other.pos_ == "NOUN" or other.ent_type_ != "PERSON":
            return True
    return False


def _person(token: Token) -> bool:
    return any(child.dep_ == "poss" for child in token.children) or token.lemma_ in (
        "man",
        "woman",
        "boy",
        "girl",
        "friend",
        "guy",
        "person",
        "doctor",
    )


def _place_before(token: Token) -> bool:
    return any(other.dep_ == "pobj" and other.pos_ in ("NOUN", "PROPN") and other.ent_type_ not in ("DATE", "TIME") for other in token.doc[: token.i])
