"""What the user lets others know: "you may mention my gate code"; and what they take back.

A permission shares an earlier statement that has all of its words and says nothing else. In doubt
nothing is shared: the user can say it again. Permissions are recognised by form or by a linear
model of their words, trained by `python -m eval train-sharing`.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from hotmem.text.stemming import STOP_STEMS, stems, terms
from hotmem.text.word_sets import word_sets
from hotmem.types import Evidence
from hotmem.understanding.animate_nouns import ACQUAINTANCES, FAMILY
from hotmem.understanding.query.command_model import term_ids
from hotmem.understanding.query.cues import DIRECT_QUESTION
from hotmem.understanding.term_model import load_term_model, logistic

MIN_PERMISSION: Final = 0.7
"""Probability from which an utterance permits to tell something."""

MIN_SIMILARITY: Final = 0.4
"""Cosine from which what others may know is about a statement, without a word in common."""

MAX_WORDS: Final = 15
"""Words of a statement that can be shared; a longer one may say something else besides."""

SOON: Final = 5
"""Passages after a permission among which an utterance may take it back that names nothing."""

FEW: Final = 2
"""Words up to which an utterance may mean what was said before: "That's over now"."""

_WORDS: Final = {name: stems(" ".join(words)) for name, words in word_sets(__file__).items()}
SHARING: Final = _WORDS["sharing"] | _WORDS["audience"]
"""Stems of utterances about what others are to know."""

_NO_NAME: Final = STOP_STEMS | _WORDS["sharing"] | _WORDS["unnamed"]
"""Stems that do not name what is permitted or forbidden."""

_DIRECT: Final = re.compile(
    r"^\W*(?:(?:by the way|oh|and|ok(?:ay)?|bot|well|so|yes|also|hey|please|go ahead and)\W+)*"
    r"(?:(?:you (?:may|can)|you(?:['’]re| are) (?:allowed|free|welcome) to|feel free to|please"
    r"|go ahead and|it['’]?s (?:ok(?:ay)?|fine|all ?right) to|i don['’]?t mind if you)"
    r" (?:tell|mention|share|give|say|pass|hand)\b(?! me\b)"
    r"|(?:guests|visitors|anyone|anybody|everyone) (?:can|may) (?:have|know)\b)",
    re.IGNORECASE,
)
_LIMITS: Final = re.compile(
    r"\b(?:except|but|only|just (?:this|for|once)|unless|un?til+|apart|besides|not|never|once|while"
    r"|her|him|me|after|before|first\W*$|(?:if|when) (?:i|we|nobody)|for the time|(?:to|mon|tues"
    r"|wednes|thurs|fri|satur|sun)days?|tonight|tomorrow|for (?:\w+ )?(?:days?|hours?)|weeks?"
    r"|weekend|months?|now|evening|morning|afternoon|between|no ?(?:one|body)|none|nothing|that"
    r"|no (?!secret|harm|problem)|who|why|there is|private|is for|few|some|most|several|two|three"
    r"|th[eo]se|other|else|here|of us|in the|i know|i keep|(?:this|next|last) time|last\W*$|ha|haha"
    r"|they say|to find|whether|(?:i|we)(?! don['’]?t mind))\b|(?<!no )(?<!a )\bsecret\b"
    r"|n['’]t\b(?! (?:a secret|mind if))",
    re.IGNORECASE,
)
"""Words of a permission for some people or some time, which is none."""

_DENIES: Final = re.compile(
    r"\b(?:no|not|never|nothing|nobody|stop|wait|forget|scrap|scratch|strike|cancel\w*|undo|revoke"
    r"|withdraw\w*|back|keep|private|quiet|mind|mum|only|but|just|over|now|jok\w+|meant|until)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_ITSELF: Final = re.compile(
    r"[,.] (?:and )?(?:you (?:may|can)|feel free to) (?:(?:give|share|pass|mention) (?:that|it)"
    r" (?:on )?(?:to|with) (?:anyone|anybody|everyone|guests|visitors)"
    r"|tell (?:anyone|anybody|everyone|guests|visitors) (?:that|it))(?: who asks)?\W*$",
    re.IGNORECASE,
)
"""What lets others know the statement before it."""

_AUDIENCE: Final = re.compile(
    r"\b(?:guests|visitors|callers|others|friends|strangers"
    r"|(?:an?|any|each|every) (?:\w+ )?(?:guest|visitor|caller|friend|stranger))\b",
    re.IGNORECASE,
)
"""Whom a permission is for; the "guest" of "the guest wifi" names what is permitted."""

_REFERS: Final = re.compile(r"\b(?:it|that|this|these|those)\b", re.IGNORECASE)
_DETERMINERS: Final = stems("the a an my our i we of for to")
_ALL: Final = re.compile(r"\b(?:(?:every|any|no)thing|me|permissions?)\b", re.IGNORECASE)
_VERB: Final = re.compile(r"\b(?:is|are|was|were|has|have)\b")
_IS: Final = re.compile(r"\b(?:is|are)\b", re.IGNORECASE)
_PEOPLE: Final = stems(" ".join(FAMILY | ACQUAINTANCES))
_JOINS: Final = re.compile(r"[,;:]|\b(?:and|but|because|so|or|with|for)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d[\d\s.-]*")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")


def named(text: str) -> frozenset[str]:
    """The stems that name what an utterance is about."""
    return stems(_AUDIENCE.sub("", text)) - _NO_NAME


@lru_cache(maxsize=4096)
def permits(sentence: str) -> bool:
    """Whether a sentence of the user lets the bot tell others something."""
    if DIRECT_QUESTION.search(sentence):
        return False
    model = load_term_model("sharing-1", "allow")
    chance = logistic(model.logit(term_ids(sentence)))
    return _DIRECT.match(sentence) is not None or chance >= MIN_PERMISSION


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part for part in _SENTENCE_END.split(text) if part]


def is_shared(found: Evidence, said: Sequence[Evidence]) -> bool:
    """Whether the last that the user said about a statement of theirs lets others know it.

    Args:
        found: A passage with the statement.
        said: Passages of theirs about the same or about what others may know, and those after
            permissions.
    """
    parts = sentences(body := _ITSELF.sub(".", found.text))
    statement = " ".join(part for part in parts if not permits(part))
    about = named(statement)
    if not all(named(part) <= about for part in parts) or not _says_one_thing(statement):
        return False
    later = [one for one in said if _at(one) >= _at(found)]
    given = [one for one in later if _permits_to_tell(one, statement)]
    last = max(given + [found] * (body != found.text), key=_at, default=None)
    return last is not None and not any(
        _at(one) > _at(last) and _may_take_back(one, last, found, statement) for one in later
    )


def _subject(statement: str) -> frozenset[str]:
    """The stems before the verb or the number, the first one if there is none."""
    before, *rest = _VERB.split(_NUMBER.sub(" is ", statement), maxsplit=1)
    found = [stem for stem in terms(before) if stem not in _DETERMINERS]
    return frozenset(found if rest else found[:1])


def _says_one_thing(statement: str) -> bool:
    several = any(len(part.findall(statement)) > 1 for part in (_VERB, _NUMBER))
    several = several or _JOINS.search(statement) is not None
    return not several and len(statement.split()) <= MAX_WORDS and len(sentences(statement)) == 1


def _permits_to_tell(one: Evidence, statement: str) -> bool:
    """Whether a passage permits, without a limit, to tell what a statement says of its subject."""
    subject, about, parts = _subject(statement), named(statement), sentences(one.text)
    thing = subject if _IS.search(statement) and not subject & _PEOPLE else frozenset()
    if _LIMITS.search(one.text) or any(_DENIES.search(part) for part in parts if not permits(part)):
        return False
    return any(
        subject <= stems(part) and words <= about and (len(words) > 1 or words == thing)
        for part in filter(permits, parts)
        if (words := named(part))
    )


def _may_take_back(one: Evidence, permission: Evidence, found: Evidence, statement: str) -> bool:
    """Whether what was said after a permission may take it back: in doubt it does."""
    words, about, same = named(one.text), named(statement), one.session == permission.session
    denies, concerns_others = _DENIES.search(one.text) is not None, bool(SHARING & stems(one.text))
    if not (denies or concerns_others) and DIRECT_QUESTION.search(one.text):
        return False
    if denies and concerns_others and _ALL.search(one.text):
        return True
    if words >= ((_subject(statement) - _NO_NAME) or about) or (denies and words & about):
        return True
    soon = same and one.position - permission.position <= SOON
    if soon and denies and len(words) <= FEW:
        return True
    if not concerns_others or not words:
        return concerns_others and (same or not _REFERS.search(one.text))
    if words & about or one.vector is None or found.vector is None:
        return True
    return float(one.vector @ found.vector) >= MIN_SIMILARITY


def _at(one: Evidence) -> tuple[datetime, int]:
    return one.place, one.key
