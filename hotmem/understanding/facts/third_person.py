"""Conversion of first-person words to the third person.

"I've got my exam on Tuesday" → "Ana has got Ana's exam on 2026-11-24 (Tuesday)".
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hotmem.temporal import TimeMention, format_time, format_time_bare
from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Token
from hotmem.understanding.facts.spelled_codes import is_read_out

FIRST_PERSON_PRONOUNS: Final = frozenset({"i", "me", "myself", "we", "us", "ourselves"})
FIRST_PERSON_POSSESSIVES: Final = frozenset({"my", "our", "mine", "ours"})
SECOND_PERSON_PRONOUNS: Final = frozenset({"you", "u", "ya", "yourself", "yourselves"})
SECOND_PERSON_POSSESSIVES: Final = frozenset({"your", "ur", "yours"})
SECOND_PERSON: Final = SECOND_PERSON_PRONOUNS | SECOND_PERSON_POSSESSIVES

FILLERS: Final = re.compile(r"u+[hm]+|er+m?|h+m+|mm+|(?:a?ha)+h?|(?:he){2,}|lo+l|lmao|omg")
"""Hesitations and laughter, which are left out."""

_MARKS: Final = frozenset({'"', "“", "”", "``", "''"})
_SIBILANT: Final = re.compile(r"(?:s|x|z|ch|sh|o)$")
_IRREGULAR: Final = {
    **dict.fromkeys(("be", "am", "are", "'m", "m", "'re", "re"), "is"),
    **dict.fromkeys(("have", "'ve", "ve"), "has"),
    "were": "was",
    "quit": "quit",
    "got": "got",
}
_EXPANSIONS: Final = {
    **dict.fromkeys(("n't", "nt"), "not"),
    **dict.fromkeys(("'ll", "wo"), "will"),
    "ve": "have",
    "ca": "can",
}


def third_person_verb(token: Token) -> str:
    """Return the third person singular: "have" → "has", "study" → "studies"; other forms stay."""
    word = token.lower_.replace("’", "'")
    if word == "'d":
        return "had" if token.lemma_ == "have" else "would"
    if word == "'s":
        return "has" if token.lemma_ == "have" else "is"
    if token.tag_ == "MD" or word in ("'ll", "ca", "wo"):
        return _EXPANSIONS.get(word, word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if token.tag_ == "VBG":
        return f"is {word}"
    if token.tag_ == "VBN" and token.dep_ != "conj":
        return f"was {word}" if word == "born" else f"has {word}"
    if token.tag_ not in ("VBP", "VB"):
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if _SIBILANT.search(word) else f"{word}s"


TIME_PREPOSITIONS: Final = wordlist("since until till by from to for before after of than")
"""Prepositions that stand before a date, which then has no "on" or "in"."""


def to_third_person(
    tokens: Sequence[Token],
    speaker: str,
    *,
    mentions: Iterable[TimeMention] = (),
    listener: str | None = None,
    antecedents: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Render tokens as a phrase about the speaker.

    Args:
        tokens: The words in order; they need not be adjacent.
        speaker: The speaker's name.
        mentions: Times in the utterance, each replaced by its absolute form.
        listener: The name that replaces "you"; None keeps it.
        antecedents: Phrases that replace pronouns, by index of the token.
    """
    words: list[str] = []
    spoken = direct_speech(tokens)
    written_mentions: set[int] = set()
    before: Token | None = None
    for token in without_stutter([token for token in tokens if not is_filler(token)]):
        mention = next(
            (mention for mention in mentions if mention.start <= token.idx < mention.stop), None
        )
        if mention is not None:
            if mention.start not in written_mentions:
                words.append(_absolute_time(token, mention, words[-1] if words else ""))
            written_mentions.add(mention.start)
            before = None
            continue
        word = (
            spoken.get(token.i)
            or antecedents.get(token.i)
            or (third_person_verb(token) if _is_contracted(token, antecedents) else None)
            or _convert_word(token, speaker, listener)
        )
        as_said = word.lower() == token.lower_
        if (
            before is not None
            and before.i + 1 == token.i
            and not before.whitespace_
            and (as_said or before.text == "-")
        ):
            words[-1] += word
        else:
            words.append(word)
        before = token if as_said or token.doc[token.i + 1 : token.i + 2].text == "-" else None
    return _join_words(words)


def direct_speech(tokens: Sequence[Token]) -> Mapping[int, str]:
    """Return the words of direct speech as they were said, by index of the token.

    That is what stands in quotation marks, and what somebody else said in the present tense of a
    past conversation: of "Mum always said I hate winter", the last three words, with marks.
    """
    inside: dict[int, str] = {}
    opened: list[Token] | None = None
    for token in tokens:
        if token.text in _MARKS:
            if opened is not None and len(opened) > 1:
                inside |= {one.i: one.text for one in opened}
            opened = [] if opened is None else None
        elif opened is not None:
            opened.append(token)
    for verb in tokens:
        if verb.i not in inside and _is_said_directly(verb):
            said = [one for one in tokens if one in verb.subtree and not one.is_punct]
            shown = {one.i: one.text for one in said}
            shown[said[0].i] = f"“{shown[said[0].i]}"
            shown[said[-1].i] = f"{shown[said[-1].i]}”"
            inside |= shown
    return inside


def _is_said_directly(verb: Token) -> bool:
    """Whether a clause with "I" keeps its tense after a verb of the past with another subject.

    Of "she said I am well" and "she said I need to rest", "I" is mostly the one who reports it.
    """
    head = verb.head
    return (
        verb.dep_ == "ccomp"
        and verb.tag_ == "VBP"
        and verb.pos_ == "VERB"
        and head.tag_ == "VBD"
        and head.i < verb.i
        and any(one.lower_ == "i" and one.dep_ == "nsubj" for one in verb.lefts)
        and not any(one.dep_ in ("mark", "aux", "xcomp") for one in verb.children)
        and not any(one.lower_ in FIRST_PERSON_PRONOUNS for one in head.children)
    )


def _is_contracted(token: Token, antecedents: Container[int]) -> bool:
    """Whether a verb is contracted with a replaced pronoun: the "'d" of "he'd"."""
    return token.pos_ == "AUX" and token.lower_[0] in "'’" and token.i - 1 in antecedents


def is_filler(token: Token) -> bool:
    """Whether a token is a hesitation or laughter."""
    return FILLERS.fullmatch(token.lower_) is not None


MAX_STUTTER_TOKENS: Final = 3
"""Tokens of the longest repeated beginning: "to the um to the doctor"."""

_STUTTERED_POS: Final = frozenset(
    {"PRON", "DET", "ADP", "AUX", "VERB", "CCONJ", "SCONJ", "PART", "ADV"}
)
"""Parts of speech that are repeated by accident."""


def without_stutter(tokens: Sequence[Token]) -> list[Token]:
    """Leave out what is repeated at once: "to the to the doctor". Numbers and letters stay."""
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        for size in range(1, MAX_STUTTER_TOKENS + 1):
            again, before = kept[-size:], kept[-2 * size : -size]
            if (
                [one.lower_ for one in again] == [one.lower_ for one in before]
                and again[0].pos_ in _STUTTERED_POS
                and before[0].pos_ in _STUTTERED_POS
                and not any(is_read_out(one) for one in again)
                and not (size == 1 and _is_meant_twice(before[0], token))
            ):
                del kept[-size:]
                break
    return kept


def _is_meant_twice(before: Token, token: Token) -> bool:
    """Whether a repeated word is said twice on purpose: "had had", "very very", "a a seven"."""
    following = token.doc[token.i + 1 : token.i + 2]
    letter = len(token) == 1 and token.lower_ != "i"
    if letter and (not following or len(following[0]) == 1 or following[0].like_num):
        return True
    return (before.tag_ != token.tag_ and token.lower_ in ("had", "that")) or token.pos_ == "ADV"


def _convert_word(token: Token, speaker: str, listener: str | None) -> str:
    word = token.lower_
    if listener is not None and word in SECOND_PERSON_PRONOUNS and token.pos_ == "PRON":
        return listener
    if listener is not None and word in SECOND_PERSON_POSSESSIVES:
        return f"{listener}'s"
    if word in FIRST_PERSON_POSSESSIVES and token.pos_ in ("PRON", "DET", "ADJ"):
        following = token.doc[token.i + 1 : token.i + 2].text.lower()
        return "their" if following == "own" else f"{speaker}'s"
    if word in FIRST_PERSON_PRONOUNS and token.pos_ == "PRON":
        return speaker
    if (token.tag_ in ("VBP", "VBD") or word in ("'d", "’d")) and _has_converted_subject(
        token.head if token.dep_ in ("aux", "auxpass") else token, addressed=listener is not None
    ):
        return third_person_verb(token)
    expanded = _EXPANSIONS.get(word.replace("’", "'"))
    if token.dep_ == "neg":
        return expanded or word
    if word in ("'s", "’s") and token.tag_ == "POS":
        return "'s"
    if token.is_sent_start and token.pos_ != "PROPN":
        return word
    return expanded or token.text


def _has_converted_subject(verb: Token, *, addressed: bool) -> bool:
    """Whether the only subject of a verb is the speaker, or the person addressed.

    A verb that is joined to another ("I came home and want tea") has the subject of that one.
    """
    pronouns = FIRST_PERSON_PRONOUNS | (SECOND_PERSON_PRONOUNS if addressed else frozenset())
    while verb.dep_ == "conj" and not _subjects(verb):
        verb = verb.head
    return any(
        child.lower_ in pronouns and child.pos_ == "PRON" and not child.conjuncts
        for child in _subjects(verb)
    )


def _subjects(verb: Token) -> list[Token]:
    return [child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")]


def _absolute_time(first: Token, mention: TimeMention, before: str) -> str:
    """Return the absolute time, with its own preposition unless that is "on" or "in".

    Args:
        first: The first word of the time.
        mention: The time.
        before: The word before it; after a preposition the time has none.
    """
    time = format_time(mention)
    if time.startswith("between "):
        return time
    if first.lower_ in TIME_PREPOSITIONS:
        return f"{first.lower_} {format_time_bare(mention)}"
    return format_time_bare(mention) if before.lower() in TIME_PREPOSITIONS else time


def _join_words(words: Sequence[str]) -> str:
    text = " ".join(word for word in words if word.strip())
    text = re.sub(r"\bcan not\b", "cannot", text)
    text = re.sub(r"(?:[\s,]+(?:and|or|but))+[\s.]*$", "", text)
    return re.sub(r"\s+(?=,|'s\b)", "", text).strip(" ,;:-/&")


def sentence(*parts: str) -> str:
    """Join the parts into a sentence with a capital and a full stop."""
    text = " ".join(part for part in parts if part).rstrip(" .,!?;:")
    return f"{text[:1].upper()}{text[1:]}."
