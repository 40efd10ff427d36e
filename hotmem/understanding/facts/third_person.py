"""Words of the first person retold in the third.

"I've got my exam on Tuesday" → "Ana has got Ana's exam on 2026-11-24 (Tuesday)".
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from hotmem.temporal import TimeMention, format_time, format_time_bare
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token

FIRST_PERSON_PRONOUNS: Final = frozenset({"i", "me", "myself", "we", "us", "ourselves"})
FIRST_PERSON_POSSESSIVES: Final = frozenset({"my", "our", "mine", "ours"})
UNRESOLVED: Final = wordlist(
    "you your yours yourself he she they it him her them his hers its their theirs himself herself themselves itself this that these "
    "those there here one ones something anything everything nothing someone anyone everyone somebody anybody nobody thing things stuff "
    "lot lots such another other others same what who which whatever so"
)
"""Words that mean nothing outside their conversation."""

QUANTIFIERS: Final = frozenset({"lot", "lots", "other", "others", "such", "another"})
"""Of these, words that mean something where what they count is named: "a lot of metal"."""

_FILLER: Final = re.compile(r"u+[hm]+|er+m?|h+m+|mm+|(?:a?ha)+h?|(?:he){2,}|lo+l|lmao|omg")
"""What is said while thinking, and laughter: left out."""

_STUTTERED: Final = frozenset({"PRON", "DET", "ADP", "AUX", "CCONJ", "SCONJ", "PART"})
"""Parts of speech of words said twice by accident; numbers, letters, names and other words are
said twice on purpose."""

_DOUBLED: Final = frozenset({"had", "that"})
"""Of these, words that are said twice on purpose."""

_SIBILANT: Final = re.compile(r"(?:s|x|z|ch|sh|o)$")
_IRREGULAR: Final = {
    "have": "has",
    "'ve": "has",
    "’ve": "has",
    "be": "is",
    "am": "is",
    "are": "is",
    "'m": "is",
    "’m": "is",
    "'re": "is",
    "’re": "is",
    "m": "is",
    "were": "was",
    "quit": "quit",
}
_SPELT_OUT: Final = {
    "n't": "not",
    "n’t": "not",
    "nt": "not",
    "'ll": "will",
    "’ll": "will",
    "ve": "have",
    "ca": "can",
    "wo": "will",
}


def third_person_verb(token: Token) -> str:
    """The third person singular of a present-tense verb.

    "have" → "has", "study" → "studies"; other forms stay.
    """
    word = token.lower_
    if word in ("'d", "’d"):
        return "had" if token.lemma_ == "have" else "would"
    if word in ("'s", "’s"):
        return "has" if token.lemma_ == "have" else "is"
    if token.tag_ == "MD" or word in ("'ll", "’ll", "ca", "wo"):
        return _SPELT_OUT.get(word, word)
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


def to_third_person(
    tokens: Sequence[Token],
    speaker: str,
    *,
    finite: Token | None = None,
    plural: bool = False,
    mentions: Iterable[TimeMention] = (),
    dated: bool = True,
) -> str:
    """The tokens as a phrase about the speaker.

    Args:
        tokens: Words in order; they need not be neighbours.
        speaker: What the speaker is called.
        finite: The verb that agrees with the subject, put into the third person.
        plural: Whether the subject stays plural, so that the verb keeps its form.
        mentions: Times of the utterance, each replaced by its absolute form.
        dated: Whether times are kept at all.
    """
    words: list[str] = []
    told: set[int] = set()
    before: Token | None = None
    for place, token in enumerate(tokens):
        if _FILLER.fullmatch(token.lower_) or (place and _stuttered(tokens[place - 1], token)):
            continue
        mention = next(
            (mention for mention in mentions if mention.start <= token.idx < mention.stop), None
        )
        if mention is not None:
            if dated and mention.start not in told:
                words.append(_absolute(token, mention))
            told.add(mention.start)
            before = None
            continue
        word = _word(token, speaker, finite, plural)
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
    return _joined(words)


def _stuttered(before: Token, token: Token) -> bool:
    """Whether a word only repeats the one before it: "to the the doctor"."""
    if token.lower_ != before.lower_ or token.pos_ not in _STUTTERED or token.lower_ in _DOUBLED:
        return False
    if token.lower_ == "a":
        following = token.doc[token.i + 1 : token.i + 2].text
        return len(following) > 1 and following.isalpha() and not token.nbor().like_num
    return len(token) > 1 or token.lower_ == "i"


def _word(token: Token, speaker: str, finite: Token | None, plural: bool) -> str:
    word = token.lower_
    if word in FIRST_PERSON_POSSESSIVES and token.pos_ in ("PRON", "DET", "ADJ"):
        following = token.doc[token.i + 1 : token.i + 2].text.lower()
        return "their" if following == "own" else f"{speaker}'s"
    if word in FIRST_PERSON_PRONOUNS and token.pos_ == "PRON":
        return speaker
    if finite is not None and token.i == finite.i:
        return (
            token.lower_
            if plural and word not in ("'re", "'ve", "’re", "’ve")
            else third_person_verb(token)
        )
    if token.tag_ in ("VBP", "VBD") and _says_self(
        token.head if token.dep_ in ("aux", "auxpass") else token
    ):
        return third_person_verb(token)
    if token.dep_ == "neg":
        return _SPELT_OUT.get(word, word)
    if word in ("'s", "’s") and token.tag_ == "POS":
        return "'s"
    if token.is_sent_start and token.pos_ != "PROPN":
        return word
    return _SPELT_OUT.get(word, token.text)


def _says_self(verb: Token) -> bool:
    """Whether the speaker is the subject of a verb."""
    return any(
        child.dep_ in ("nsubj", "nsubjpass")
        and child.lower_ in FIRST_PERSON_PRONOUNS
        and child.pos_ == "PRON"
        for child in verb.lefts
    )


def _absolute(first: Token, mention: TimeMention) -> str:
    """The time in absolute form, behind its own preposition where that is not "on" or "in"."""
    told = format_time(mention)
    if first.lower_ in (
        "since",
        "until",
        "till",
        "by",
        "from",
        "before",
        "after",
    ) and not told.startswith("between "):
        return f"{first.lower_} {format_time_bare(mention)}"
    return told


def _joined(words: Sequence[str]) -> str:
    text = " ".join(word for word in words if word.strip())
    text = re.sub(r"\bcan not\b", "cannot", text)
    text = re.sub(r"(?:[\s,]+(?:and|or|but))+[\s.]*$", "", text)
    return re.sub(r"\s+(?=,|'s\b)", "", text).strip(" ,;:-/&")


def sentence(*parts: str) -> str:
    """The parts as one sentence: upper case first, full stop last."""
    text = " ".join(part for part in parts if part).rstrip(" .,!?;:")
    return f"{text[:1].upper()}{text[1:]}."
