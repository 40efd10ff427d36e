"""Detection of consent in the answer to a confirmation question.

A deletion may be irreversible, so every word of the answer must be part of a yes.
"""

import re
from functools import lru_cache
from typing import Final

from hotmem.text.passages import SENTENCE_END
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.truncation import truncate_middle
from hotmem.text.validation import END, normalize
from hotmem.text.word_sets import word_sets

MAX_WORDS: Final = 20
"""Maximum number of words; a longer answer has other content."""

_OF_DELETIONS: Final = STOP_STEMS | stems(" ".join(word_sets(__file__)["deletion"]))
"""Stems of a question whether to delete that do not say what."""

_EVERYTHING: Final = re.compile(
    r"\b(?:everything|else|remind|all (?:of )?(?:your|my|you))\b", re.IGNORECASE
)
_UNFINISHED: Final = re.compile(r"\?|…|\.\.")
"""Marks of a question or an unfinished sentence."""

_ALL: Final = (
    r"(?:everything|(?:all|the (?:whole )?lot)(?: of (?:it|that|this|them))?"
    r"|(?:all )?(?:my|the) (?:data|memories)|(?:the )?turns and (?:the )?facts)"
)
_THING: Final = rf"(?:{_ALL}|(?:it|that|this|them|those|these)(?: all)?)"
_VERB: Final = r"(?:delete|erase|remove|wipe|forget|clear|scrub|destroy|bin|drop|get rid of)"
_DELETE: Final = rf"(?:(?!forget (?!all|everything)){_VERB} {_THING})(?: (?:all|away|out))?"
_YES: Final = (
    r"yes|yeah|yea|yep|yup|aye|definitely|absolutely|certainly|positive|affirmative|correct"
    r"|confirmed|i confirm(?: it| that)?|of course|no doubt(?: about it)?"
    r"|(?:im|i am) (?:(?!not )\w+ )?(?:sure|certain|positive)(?: about (?:it|that))?|please do"
    r"|do (?:it|that|so)|go (?:right )?ahead|go for it|thats (?:right|correct|what i want)"
    rf"|{_DELETE}|i want {_THING} (?:all )?(?:gone|deleted|erased|removed|wiped|forgotten)"
)
_NEUTRAL: Final = (
    r"please|thanks|thank you|love|dear|mate|ok|okay|sure|right now|now|just|well|oh|and|so|then"
    r"|go on|for sure|(?:al(?:l )?right|right)(?! $)|really|thats fine|i said|you (?:can|may)"
    r"|i (?:really )?(?:do|am|would)|i (?:do |really )?want (?:it|that|this)|id like(?: you)? to"
    rf"|i (?:do |really )?want(?: you)? to|for good|forever|permanently|completely|{_ALL}"
)
"""Phrases that may accompany a yes but are none. "Forget it" and "I know" withdraw a request."""

_INCOMPLETE_ENDINGS: Final = frozenset({"just", "well", "oh", "and", "so", "then"})
"""Words that a complete answer does not end with."""


def confirms_deletion(text: str, about: str = "") -> bool:
    """Whether an answer as a whole confirms a deletion. "okay" and "sure" alone do not.

    Args:
        text: The answer.
        about: The topic of the deletion, which the answer may name.
    """
    text = truncate_middle(text)
    answer = [word for word in normalize(text).split() if word != END]
    if (
        not answer
        or len(answer) > MAX_WORDS
        or answer[-1] in _INCOMPLETE_ENDINGS
        or _UNFINISHED.search(text)
    ):
        return False
    return (
        answer_pattern(normalize(about).removesuffix(END).strip()).fullmatch(
            "".join(f"{word} " for word in answer)
        )
        is not None
    )


def asks_about(question: str, target: str, quoted: str = "") -> bool:
    """Whether a question is about what would be deleted, by a word of it if it has any.

    Args:
        question: The bot's reply, without what it quotes; its last question counts.
        target: What would be deleted, in words.
        quoted: What the reply quotes.
    """
    asked = next(one for one in reversed(SENTENCE_END.split(question)) if "?" in one)
    about, meant = stems(asked) - _OF_DELETIONS, stems(target)
    other = about or (_EVERYTHING.search(asked) and meant - _OF_DELETIONS)
    return not other or not meant.isdisjoint(about | (stems(quoted) - _OF_DELETIONS))


def confirms(text: str) -> bool:
    """Whether an answer as a whole confirms something other than a deletion."""
    return confirms_deletion(text) and re.search(rf"\b{_VERB}\b", normalize(text)) is None


@lru_cache(maxsize=8)
def answer_pattern(about: str) -> re.Pattern[str]:
    """The pattern of a complete confirmation, which may name the topic of the deletion."""
    naming = rf"|(?:(?:about|of|on)|{_VERB}) (?:my )?{re.escape(about)}" if about else ""
    part = rf"(?:(?:{_YES}|{_NEUTRAL}{naming}) )"
    return re.compile(rf"{part}*(?:{_YES}) {part}*")
