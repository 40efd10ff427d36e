"""Who is called what: "my dog's name is Potola", "I have a sister named Marta", "my brother Tom", "call me Ana".

Read from the words rather than from the parse, which fails on names in lower case.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hotmem.types.parse import Doc
from hotmem.understanding.animate_nouns import SHARED_ROLES, UNIQUE_ROLES
from hotmem.understanding.facts.instructions.topics import is_refused
from hotmem.understanding.facts.relations import NAMEABLE_NOUNS
from hotmem.understanding.facts.subjects import canonical
from hotmem.understanding.query.entities import is_name

_NAME: Final = r"(?P<name>[^\W\d_][\w'’-]*(?:\s+(?-i:[A-Z])[\w'’-]*){0,2})"
_THING: Final = r"(?P<thing>(?:[a-z-]+(?:['’]s)?\s+){0,2}?[a-z-]+)"
_BE: Final = r"(?:\s+is|\s+was|['’]s|['’]s\s+been)"
_CALLED: Final = r"(?:called|named)"


@dataclass(frozen=True, slots=True)
class NameStatement:
    """A name given.

    Attributes:
        thing: What bears it, "" for the speaker.
        name: The name as written, with a capital.
        sole: Whether there is one name only: not for "my brother Tom", who may have another, nor
            for a friend.
        start: First character of the words.
        stop: One past the last character.
        renames: Whether it takes the place of a name given before: "is called Elmwood now", "my new
            boss is Karim".
        wished: Whether it is only what one is to be called by, beside the name one bears: "call me
            Annie".
    """

    thing: str
    name: str
    sole: bool
    start: int
    stop: int
    renames: bool
    wished: bool


_RENAMED: Final = re.compile(
    r"\b(?:now|nowadays|these days|renam\w+|from now on|instead|any ?more|no longer|chang\w+)\b",
    re.IGNORECASE,
)
"""Words beside a name that say that it was another before."""

_CALL_ME: Final = rf"(?:you can |please |just |everyone |people )?calls?\s+me\s+{_NAME}"
_APPOSED: Final = rf"(?:my|our)\s+{_THING},?\s+{_NAME}"
_PATTERNS: Final = tuple(
    (
        re.compile(rf"\b{body}(?![\w'’])", re.IGNORECASE),
        sure,
        body is not _APPOSED,
        body is _CALL_ME,
    )
    for body, sure in (
        (rf"my\s+name{_BE}\s+{_NAME}", True),
        (_CALL_ME, False),
        (rf"i(?:['’]m|\s+am)\s+{_CALLED}\s+{_NAME}", True),
        (
            rf"(?:^|(?<=[.!?,]\s)|(?<=hi\s)|(?<=hello\s)|(?<=hey\s))(?:i['’]m|i\s+am)\s+{_NAME}(?=\s*(?:[.!,]|$|\s+and\b|\s+from\b))",
            False,
        ),
        (rf"(?:hi|hello|hey)\W+this\s+is\s+{_NAME}(?=\s*(?:[.!,]|$))", False),
        (rf"(?:my|our)\s+{_THING}['’]s?\s+name{_BE}\s+{_NAME}", True),
        (rf"(?:my|our)\s+{_THING}{_BE}\s+{_CALLED}\s+{_NAME}", True),
        (
            rf"(?:my|our)\s+{_THING}{_BE}\s+{_NAME}(?=(?:\s+(?:now|these\s+days|nowadays))?\s*(?:[.!,]|$))",
            False,
        ),
        (
            rf"(?:my|our)\s+{_THING}(?:,\s*|\s+)(?:(?:who|which|that)\s+is\s+)?{_CALLED}\s+{_NAME}",
            True,
        ),
        (_APPOSED, False),
        (
            rf"(?:i|we)(?:['’]ve|\s+have)?(?:\s+just)?(?:\s+(?:got|adopted|have|had|own|bought|rescued))?\s+(?:an?|one)\s+{_THING},?\s+(?:(?:who|which|that)\s+is\s+|who['’]s\s+)?{_CALLED}\s+{_NAME}",
            True,
        ),
        (
            rf"(?:i|we)(?:['’]ve|\s+have)?(?:\s+got)?\s+(?:an?|one)\s+{_THING}\b[^.?!]{{0,20}}[.,;]?\s+(?:and\s+)?(?:his|her|its|the)\s+name{_BE}\s+{_NAME}",
            True,
        ),
        (
            rf"(?:i|we)(?:['’]ve|\s+have)?(?:\s+got)?\s+(?:an?|one)\s+{_THING}[.,;]?\s+(?:and\s+)?(?:he|she|it)(?:\s+is|['’]s)\s+{_CALLED}\s+{_NAME}",
            True,
        ),
        (rf"(?:i|we)\s+(?:named|call|called)\s+(?:my|our)\s+{_THING}\s+{_NAME}", False),
        (
            rf"{_NAME}(?:\s+is|['’]s)\s+(?:my|our)\s+{_THING}(?:['’]s\s+name)?(?=\s*(?:[.!,]|$))",
            False,
        ),
    )
)
_WRITTEN_PEOPLE: Final = frozenset(
    {"PERSON", "GPE", "ORG", "", "PRODUCT", "WORK_OF_ART", "FAC", "LOC"}
)


def read_names(doc: Doc) -> Iterator[NameStatement]:
    """Names given in an utterance; questions and hypotheticals give none."""
    taken: list[tuple[int, int]] = []
    text = doc.text
    for pattern, sure, sole, wished in _PATTERNS:
        for match in pattern.finditer(text):
            thing = (match.groupdict().get("thing") or "").lower()
            name = _checked_name(
                doc, match.start("name"), match.end("name"), sure=sure, bears=bool(thing)
            )
            if not name or any(
                match.start() < stop and start < match.end() for start, stop in taken
            ):
                continue
            if thing and not _nameable(thing):
                continue
            if _asked_or_unreal(text, match.start(), match.end()) or (
                not thing and is_refused(text[: match.start("name")])
            ):
                continue
            taken.append(match.span())
            kind = canonical(thing.split()[-1]) if thing else ""
            only = (sole or kind in UNIQUE_ROLES) and kind not in SHARED_ROLES
            stop = (
                match.start("name") + len(name)
                if match.start("name") > match.start()
                else match.end()
            )
            yield NameStatement(
                thing, name, only, match.start(), stop, _renames(text, match, thing), wished
            )


def normalize_thing(thing: str) -> str:
    """The thing as a key uses it: articles and spelling variants out."""
    return " ".join(
        canonical(word)
        for word in thing.split()
        if word not in ("a", "an", "the", "new", "little", "own")
    )


def _nameable(thing: str) -> bool:
    last = thing.split()[-1]
    return last in NAMEABLE_NOUNS and not any(
        word
        in (
            "is",
            "was",
            "and",
            "of",
            "with",
            "in",
            "that",
            "who",
            "to",
            "has",
            "have",
            "favourite",
            "favorite",
        )
        for word in thing.split()
    )


def _renames(text: str, match: re.Match[str], thing: str) -> bool:
    """Whether a name replaces another.

    The speaker's own does, and that of the new one of whom there is one at a time.
    """
    words = thing.split()
    if not words or ("new" in words and words[-1] in UNIQUE_ROLES):
        return True
    rest = re.split(r"[.!?;]", text[match.end() :])[0]
    return bool(_RENAMED.search(f"{match[0]} {rest}"))


def _checked_name(doc: Doc, start: int, stop: int, *, sure: bool, bears: bool) -> str:
    """The name, cut after its last fitting word, or "" if it is none."""
    words: list[str] = []
    for token in doc:
        if token.idx < start:
            continue
        if token.idx >= stop:
            break
        capital = (
            token.text[:1].isupper()
            and token.pos_ == "PROPN"
            and is_name(token)
            and token.ent_type_ in _WRITTEN_PEOPLE
        )
        spoken = (
            sure
            and not words
            and token.is_alpha
            and not token.is_stop
            and len(token) > 1
            and (token.pos_ in ("PROPN", "NOUN", "X") or token.text[:1].isupper())
        )
        if not (capital or spoken):
            break
        words.append(f"{token.text[:1].upper()}{token.text[1:]}")
    if words and not bears and not sure and doc.text[start : start + 1].islower():
        return ""
    return " ".join(words)


def _asked_or_unreal(text: str, start: int, stop: int) -> bool:
    before = re.sub(
        r"\bguess what\b", "", re.split(r"[.!?;]", text[:start])[-1], flags=re.IGNORECASE
    )
    after = re.match(r"[^.!?]*([.!?]?)", text[stop:])
    if re.search(
        r"(?:n['’]t|\b(?:if|is|are|never|not|do|does|did|what|who|whose|which|suppose|imagine|wish|said|says))\W*$",
        before,
        re.IGNORECASE,
    ):
        return True
    return bool(after and after[1] == "?" and not re.search(r",|\band\b|\bbut\b", after[0]))
