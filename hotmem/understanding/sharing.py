"""What the user lets others know: "you may mention my gate code"; and what they take back.

A permission shares an earlier statement that has all of its words and says nothing else. In doubt
nothing is shared: the user can say it again.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hotmem.text.passages import SENTENCE_END
from hotmem.text.stemming import STOP_STEMS, stems, terms
from hotmem.text.word_sets import word_sets
from hotmem.types import Evidence
from hotmem.understanding.lexicon import ACQUAINTANCES, FAMILY
from hotmem.understanding.query.cues import DIRECT_QUESTION

MIN_SIMILARITY: Final = 0.4
"""Cosine from which what others may know is about a statement, without a word in common."""

MAX_WORDS: Final = 15
"""Words of a statement that can be shared; a longer one may say something else besides."""

SOON: Final = 5
"""Passages after a permission among which an utterance may take it back that names nothing."""

FEW: Final = 4
"""Words up to which an utterance may limit what was said before: "The nice ones."."""

_WORDS: Final = {name: stems(" ".join(words)) for name, words in word_sets(__file__).items()}
SHARING: Final = _WORDS["sharing"] | _WORDS["audience"]
"""Stems of utterances about what others are to know."""

_NO_NAME: Final = STOP_STEMS | _WORDS["sharing"] | _WORDS["unnamed"]
"""Stems that do not name what is permitted or forbidden."""

_AUDIENCE: Final = (
    r"\b(?:guests|visitors|callers|others|friends|strangers|people|any(?:one|body)|every(?:one|body)"
    r"|(?:an?|any|each|every) (?:\w+ )?(?:guest|visitor|caller|friend|stranger))\b"
)
"""Whom a permission is for; the "guest" of "the guest wifi" names what is permitted."""

_PERMISSION: Final = re.compile(
    r"\W*(?:(?:by the way|of course|oh|and|ok(?:ay)?|bot|well|so|yes|also|hey|sure)\W+)*"
    r"(?:(?:you (?:may|can)|you(?:['’]re| are) (?:allowed|free|welcome) to|feel free to|please"
    r"|go ahead and|it['’]?s (?:ok(?:ay)?|fine|all ?right) to|i don['’]?t mind if you)"
    rf" (?:tell|mention|share|give|say|pass|hand)(?: on| out| to| my| our)*(?: {_AUDIENCE})?"
    rf"(?: about)?|{_AUDIENCE} (?:can|may) (?:have|know))"
    rf" (?P<thing>(?!me\b|that\b|it\b)[^.!?,;:]+?)(?: (?:to|with) {_AUDIENCE})?"
    r"(?: who asks?| when they ask)?(?: please| too| again)?\W*",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    r"\b(?:no|not|never|nothing|nobody|stop|wait|forget|scrap|scratch|strike|cancel\w*|undo|revoke|mum"
    r"|withdraw\w*|back|regret\w*|hush|discreet|keep|private|quiet|mind|only|but|just|over|now|jok\w+"
    r"|meant|until)\b|n['’]t\b",
    re.IGNORECASE,
)
_ITSELF: Final = re.compile(
    r"[,.] (?:and )?(?:you (?:may|can)|feel free to) (?:(?:give|share|pass|mention) (?:that|it)"
    r" (?:on )?(?:to|with) (?:anyone|anybody|everyone|guests|visitors)"
    r"|tell (?:anyone|anybody|everyone|guests|visitors) (?:that|it))(?: who asks)?\W*$",
    re.IGNORECASE,
)
"""What lets others know the statement before it."""

_REFERS: Final = re.compile(r"\b(?:that|this|these|those|they|them|if|when|mean)\b", re.IGNORECASE)
_VERB: Final = re.compile(r"\b(?:is|are|was|were|has|have)\b")
_IS: Final = re.compile(r"\b(?:is|are)\b", re.IGNORECASE)
_PEOPLE: Final = stems(" ".join(FAMILY | ACQUAINTANCES))
_JOINS: Final = re.compile(r"[,;:]|\b(?:and|but|because|so|or|with|for)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d[\d\s.-]*")


def named(text: str) -> frozenset[str]:
    """The stems that name what an utterance is about."""
    return stems(re.sub(_AUDIENCE, "", text, flags=re.IGNORECASE)) - _NO_NAME


def permits(sentence: str) -> re.Match[str] | None:
    """Match a sentence of the user that lets the bot tell others a `thing`."""
    found = _PERMISSION.fullmatch(sentence) or _ITSELF.search(sentence)
    return None if DIRECT_QUESTION.search(sentence) else found


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part for part in SENTENCE_END.split(text) if part]


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
    found = [stem for stem in terms(before) if stem not in _WORDS["empty"]]
    return frozenset(found if rest else found[:1])


def _says_one_thing(statement: str) -> bool:
    several = any(len(part.findall(statement)) > 1 for part in (_VERB, _NUMBER))
    several = several or _JOINS.search(statement) is not None
    return not several and len(statement.split()) <= MAX_WORDS and len(sentences(statement)) == 1


def _permits_to_tell(one: Evidence, statement: str) -> bool:
    """Whether a passage ends with the permission to tell what a statement says of its subject."""
    subject, about, (*before, last) = _subject(statement), named(statement), sentences(one.text)
    if (permission := _PERMISSION.fullmatch(last)) is None or any(map(_DENIES.search, before)):
        return False
    meant = stems(permission["thing"]) - _WORDS["empty"]
    whole = meant == subject and _IS.search(statement) is not None and not subject & _PEOPLE
    return subject <= meant <= about and (whole or len(meant) > 1)


def _may_take_back(one: Evidence, permission: Evidence, found: Evidence, statement: str) -> bool:
    """Whether what was said after a permission may take it back: in doubt it does."""
    words, about, same = named(one.text), named(statement), one.session == permission.session
    denies, concerns_others = _DENIES.search(one.text) is not None, bool(SHARING & stems(one.text))
    refers = _REFERS.search(one.text) is not None
    soon = same and one.position - permission.position <= SOON
    limits = soon and (denies or refers or len(one.text.split()) <= FEW)
    if limits or (denies and concerns_others):
        return True
    if not (soon or concerns_others) and DIRECT_QUESTION.search(one.text):
        return False
    if words >= ((_subject(statement) - _NO_NAME) or about) or (denies and words & about):
        return True
    if not concerns_others or not words:
        return concerns_others and (same or not refers)
    if words & about or one.vector is None or found.vector is None:
        return True
    return float(one.vector @ found.vector) >= MIN_SIMILARITY


def _at(one: Evidence) -> tuple[datetime, int]:
    return one.place, one.key
