"""Names: "my dog's name is Potola", "I have a sister named Marta", "call me Ana".

Read by patterns over the text, because the parser fails on names in lower case.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types import Statement
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.assertion import VERB_TAGS, is_quoted, is_reported
from hotmem.understanding.facts.instructions.safety import is_refused
from hotmem.understanding.facts.relations import ANY_NAME, IS_CALLED
from hotmem.understanding.facts.third_person import sentence
from hotmem.understanding.lexicon import NAMEABLE_NOUNS, SHARED_ROLES, UNIQUE_ROLES
from hotmem.understanding.query.entities import is_name

_NAME: Final = r"(?P<name>[^\W\d_][\w'’-]*(?:\s+(?-i:[A-Z])[\w'’-]*){0,2})"
_THING: Final = r"(?P<thing>(?:[a-z-]+(?:['’]s)?\s+){0,2}?[a-z-]+)"
_BE: Final = r"(?:\s+is|\s+was|['’]s|['’]s\s+been)"
_CALLED: Final = r"(?:called|named)"

_SPELLING_VARIANTS: Final = {
    "neighbor": "neighbour",
    "mom": "mum",
    "roommate": "flatmate",
    "grandma": "grandmother",
    "grandpa": "grandfather",
}
"""Spelling variants, each with the form used in keys."""


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A way to give a name.

    Attributes:
        form: The pattern, with the groups `name` and `thing`.
        explicit: Whether it says "called", "named" or "name", so that lower-case names count too.
        unique: Whether it gives the only name: not "my brother Tom", who may not be the only one.
        preferred: Whether it is only a form of address: "call me Annie".
    """

    form: re.Pattern[str]
    explicit: bool
    unique: bool
    preferred: bool


_RENAMED: Final = re.compile(
    r"\b(?:now|nowadays|these days|renam\w+|from now on|instead|any ?more|no longer|chang\w+)\b",
    re.IGNORECASE,
)
"""Words near a name that say that it was different before."""

_CALL_ME: Final = rf"(?:you can |please |just |everyone |people )?calls?\s+me\s+{_NAME}"
_APPOSED: Final = rf"(?:my|our)\s+{_THING},?\s+{_NAME}"
_PATTERNS: Final = tuple(
    NamePattern(
        re.compile(rf"\b{form}(?![\w'’])", re.IGNORECASE),
        explicit,
        unique=form is not _APPOSED,
        preferred=form is _CALL_ME,
    )
    for form, explicit in (
        (rf"my\s+name{_BE}\s+{_NAME}", True),
        (_CALL_ME, False),
        (rf"i(?:['’]m|\s+am)\s+{_CALLED}\s+{_NAME}", True),
        (
            rf"(?:^|(?<=[.!?,]\s)|(?<=hi\s)|(?<=hello\s)|(?<=hey\s))(?:i['’]m"
            rf"|i\s+am)\s+{_NAME}(?=\s*(?:[.!,]|$|\s+and\b|\s+from\b))",
            False,
        ),
        (rf"(?:hi|hello|hey)\W+this\s+is\s+{_NAME}(?=\s*(?:[.!,]|$))", False),
        (rf"(?:my|our)\s+{_THING}['’]s?\s+name{_BE}\s+{_NAME}", True),
        (rf"(?:my|our)\s+{_THING}{_BE}\s+{_CALLED}\s+{_NAME}", True),
        (
            rf"(?:my|our)\s+{_THING}{_BE}\s+{_NAME}(?=(?:\s+(?:now|these\s+days"
            rf"|nowadays))?\s*(?:[.!,]|$))",
            False,
        ),
        (
            rf"(?:my|our)\s+{_THING}(?:,\s*|\s+)(?:(?:who|which|that)\s+is\s+)?{_CALLED}\s+{_NAME}",
            True,
        ),
        (_APPOSED, False),
        (
            rf"(?:i|we)(?:['’]ve|\s+have)?(?:\s+just)?(?:\s+(?:got|adopted|have|had|own|bought"
            rf"|rescued))?\s+(?:an?|one)\s+{_THING},?\s+(?:(?:who|which|that)\s+is\s+"
            rf"|who['’]s\s+)?{_CALLED}\s+{_NAME}",
            True,
        ),
        (
            rf"(?:i|we)(?:['’]ve|\s+have)?(?:\s+got)?\s+(?:an?"
            rf"|one)\s+{_THING}\b[^.?!]{{0,20}}[.,;]?\s+(?:and\s+)?(?:his|her|its"
            rf"|the)\s+name{_BE}\s+{_NAME}",
            True,
        ),
        (
            rf"(?:i|we)(?:['’]ve|\s+have)?(?:\s+got)?\s+(?:an?"
            rf"|one)\s+{_THING}[.,;]?\s+(?:and\s+)?(?:he|she|it)(?:\s+is"
            rf"|['’]s)\s+{_CALLED}\s+{_NAME}",
            True,
        ),
        (rf"(?:i|we)\s+(?:call|called)\s+(?:my|our)\s+{_THING}\s+{_NAME}", False),
        (rf"(?:(?:i|we)\s+named|renamed)\s+(?:my|our|the)\s+{_THING}\s+{_NAME}", True),
        (
            rf"{_NAME}(?:\s+is|['’]s)\s+(?:my|our)\s+{_THING}(?:['’]s\s+name)?(?=\s*(?:[.!,]|$))",
            False,
        ),
    )
)
_NO_THING: Final = wordlist("is was and of with in that who to has have favourite favorite")
_NAME_ENTITY_TYPES: Final = frozenset(
    {"PERSON", "GPE", "ORG", "", "PRODUCT", "WORK_OF_ART", "FAC", "LOC"}
)


def read_name_statements(doc: Doc, speaker: str) -> Iterator[Statement]:
    """Yield the names given in a turn; questions and hypotheticals give none.

    Args:
        doc: The parsed turn.
        speaker: The speaker's name.
    """
    taken: list[tuple[int, int]] = []
    text = doc.text
    for pattern in _PATTERNS:
        for match in pattern.form.finditer(text):
            thing = (match.groupdict().get("thing") or "").lower()
            start, stop = match.span("name")
            name = _checked_name(doc, start, stop, explicit=pattern.explicit, has_thing=bool(thing))
            if (
                not name
                or any(match.start() < end and begin < match.end() for begin, end in taken)
                or (thing and not _is_nameable(thing))
                or _is_question_or_hypothetical(text, match.start(), match.end())
                or (not thing and is_refused(text[:start]))
                or _is_anothers(doc, start)
            ):
                continue
            taken.append(match.span())
            stop = start + len(name) if start > match.start() else match.end()
            subject = f"{speaker}'s {normalize_thing(thing)}" if thing else speaker
            if name.casefold() == speaker.casefold():
                continue
            role = _canonical(thing.split()[-1]) if thing else ""
            yield replace(
                IS_CALLED.statement(
                    subject, name, sentence(subject, IS_CALLED.name, name), match.start(), stop
                ),
                entities=(name,),
                single=(pattern.unique or role in UNIQUE_ROLES) and role not in SHARED_ROLES,
                replaces=_replaces_name(text, match, thing, pattern),
                changes=pattern.preferred,
                ending=ANY_NAME if thing and _is_renamed(text, match) else None,
            )


def normalize_thing(thing: str) -> str:
    """Remove articles and spelling variants, for use in a key."""
    return " ".join(
        _canonical(word)
        for word in thing.split()
        if word not in ("a", "an", "the", "new", "little", "own")
    )


def _is_nameable(thing: str) -> bool:
    last = thing.split()[-1]
    return last in NAMEABLE_NOUNS and _NO_THING.isdisjoint(thing.split())


def _is_anothers(doc: Doc, place: int) -> bool:
    """Whether a name at an offset was given by somebody whom the speaker quotes."""
    name = next((token for token in doc if token.idx + len(token) > place), None)
    verb = next((one for one in name.ancestors if one.pos_ in VERB_TAGS), None) if name else None
    return verb is not None and (is_quoted(verb) or is_reported(verb))


def _replaces_name(text: str, match: re.Match[str], thing: str, pattern: NamePattern) -> bool:
    """Whether a name supersedes another: the speaker's own, or that of "my boss", who is one.

    "I'm Batman" and "my boss is Batman" do not: people say what somebody is like, and jokes, in
    the same words.
    """
    words = thing.split()
    if not words and (pattern.explicit or pattern.preferred):
        return True
    if words and words[-1] in UNIQUE_ROLES and ("new" in words or pattern.explicit):
        return True
    return _is_renamed(text, match)


def _is_renamed(text: str, match: re.Match[str]) -> bool:
    """Whether it is said that the name was different before."""
    rest = re.split(r"[.!?;]", text[match.end() :])[0]
    return bool(_RENAMED.search(f"{match[0]} {rest}"))


def _checked_name(doc: Doc, start: int, stop: int, *, explicit: bool, has_thing: bool) -> str:
    """Return the name, cut after its last valid word; "" if there is none."""
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
            and token.ent_type_ in _NAME_ENTITY_TYPES
        )
        spoken = (
            explicit
            and not words
            and token.is_alpha
            and not token.is_stop
            and len(token) > 1
            and (token.pos_ in ("PROPN", "NOUN", "X") or token.text[:1].isupper())
        )
        if not (capital or spoken):
            break
        words.append(f"{token.text[:1].upper()}{token.text[1:]}")
    if words and not has_thing and not explicit and doc.text[start : start + 1].islower():
        return ""
    return " ".join(words)


def _is_question_or_hypothetical(text: str, start: int, stop: int) -> bool:
    before = re.sub(
        r"\bguess what\b", "", re.split(r"[.!?;]", text[:start])[-1], flags=re.IGNORECASE
    )
    after = re.match(r"[^.!?]*([.!?]?)", text[stop:])
    if re.search(
        r"(?:n['’]t|\b(?:if|is|are|never|not|do|does|did|what|who|whose|which|suppose|imagine"
        r"|wish|said|says))\W*$",
        before,
        re.IGNORECASE,
    ):
        return True
    return bool(after and after[1] == "?" and not re.search(r",|\band\b|\bbut\b", after[0]))


def _canonical(word: str) -> str:
    """Return the spelling used in keys."""
    return _SPELLING_VARIANTS.get(word.lower(), word.lower())
