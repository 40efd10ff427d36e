"""A speaker's corrections: "No, I said Potola, not Paola", "actually it's on Tuesday"."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from hotmem.temporal import Granularity, find_times, format_time_bare
from hotmem.text.word_sets import wordlist
from hotmem.types import Correction
from hotmem.types.parse import Doc
from hotmem.understanding.facts.relations import IS_CALLED, IS_IN, IS_ON

_VALUE: Final = r"(?:(?:a|an|the|on|in|at|with)\s+)?(?P<{name}>[\w'’-]+(?:\s+(?!not\b|but\b|and\b|it\b|so\b|because\b)[\w'’-]+){{0,3}}?)"
_RIGHT: Final = _VALUE.format(name="right")
_WRONG: Final = _VALUE.format(name="wrong")
_IT: Final = (
    r"(?:it|that|he|she|they|(?:(?:his|her|its|my|their|the)\s+(?:\w+(?:['’]s)?\s+)?name)|(?:my|our|the)\s+\w+(?:\s+\w+)?)"
    r"(?:['’]s|['’]re|\s+is|\s+was|\s+are)(?:\s+actually)?"
)
_NO: Final = (
    r"(?:no|nope|nah|wait|sorry|actually|oh no|oops|well|correction|hold on|i mean|wrong|not quite|(?:you|i) (?:got|had) (?:that|it) wrong"
    r"|you misheard(?: me)?|that(?:['’]s| is| was) (?:wrong|not right))"
)
_SAID: Final = r"(?:(?:i\s+(?:said|meant|mean)|make)(?:\s+(?:it['’]s|it|that))?)"
_NOT: Final = r"(?:\s*,?\s*(?:by the way|actually|though))?\s*,?\s*(?:and\s+)?not"
_COUNT: Final = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_ADMITTED: Final = re.compile(
    r"\b(?:i (?:said|told you) (?:something|it) (?:silly|wrong|stupid)|(?:told|gave) you the wrong|(?:you|i) mis(?:heard|spoke|remembered)"
    r"|(?:that|it|what i (?:said|told you)\b[^.,!?]*) (?:was|is) (?:wrong|not right|a mistake)|that['’]s (?:wrong|not right)|my mistake|my bad"
    r"|(?:i|you) (?:got|had|mixed) (?:that|it|them|those) (?:wrong|up)|correction|scratch that|i (?:just )?(?:checked|looked it up)"
    r"|(?:sorry|no),? wait|wait,? no|(?:oh|no|wait|sorry|but),? (?:he|she|it|they)(?:['’](?:s|re)| is| are)? actually"
    r"|i (?:always|often|keep) (?:mix|confus|get)\w*)\b",
    re.IGNORECASE,
)
"""Words with which people own to having said something wrong, in this turn or before. "She
actually lives in Rome" alone may be said of anyone."""

_SEVERAL: Final = "{0,8}"
"""How often one says no: of many in a row each would be tried with all that follow."""

_END: Final = r"(?=\s*(?:[.!;,]|$))"

_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\b{_NO}\W+){_SEVERAL}\b{_SAID}\s+{_RIGHT}{_NOT}\s+{_WRONG}{_END}",
        rf"(?:\b{_NO}\W+){_SEVERAL}\b{_IT}\s+(?:called\s+|named\s+)?(?!not\b){_RIGHT}{_NOT}\s+{_WRONG}{_END}",
        rf"\b(?:at|in|from)\s+{_RIGHT}\s*,\s*(?:and\s+)?not\s+(?:(?:at|in|from)\s+)?{_WRONG}{_END}",
        rf"\b(?P<right>{_COUNT}\s+[\w'’-]+)[^.,;!?]*,\s*(?:and\s+)?not\s+{_COUNT}{_END}",
        rf"\bnot\s+{_WRONG}\s*,\s*(?:but\s+)?{_IT}\s+(?!no\b){_RIGHT}{_END}",
        rf"\bdid i say\s+{_WRONG}\s*\?\s*(?:{_NO}\W+){_SEVERAL}{_SAID}\s+{_RIGHT}{_END}",
        rf"\bcall(?:ed|ing)?\s+(?:him|her|it|them)\s+{_WRONG}\s*[.,;]\s*(?:but\s+)?{_IT}\s+{_RIGHT}{_END}",
        rf"\b{_IT}\s+(?:spelled|spelt)\s+{_RIGHT}{_END}",
        rf"(?:^|(?<=[.!?]\s))(?:{_NO}\W+(?:{_NO}\W+){_SEVERAL}(?:{_IT}\s+)?)?not\s+(?:called\s+|named\s+)?{_WRONG}\s*[,.;]\s*(?:but\s+)?(?:{_IT}\s+(?:called\s+|named\s+)?|{_SAID}\s+)?{_RIGHT}{_END}",
        rf"^(?:{_NO}\W+){_SEVERAL}(?!not\b){_RIGHT}\s*,\s*not\s+{_WRONG}\W*$",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_SEVERAL}{_SAID}\s+{_RIGHT}\s*[.!]*\s*$",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_SEVERAL}(?:{_IT})\s+(?P<cue>called\s+|named\s+|on\s+|in\s+)(?!not\b){_RIGHT}{_END}",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_SEVERAL}(?:(?:his|her|its|their|the|my)\s+name(?:['’]s|\s+is)\s+)(?!not\b){_RIGHT}{_END}",
        rf"^{_NO}\W+(?:{_NO}\W+){_SEVERAL}(?P<right>{_COUNT}\s+[\w'’-]+)\s*[.!]*\s*$",
        rf"^{_NO}\W+(?:{_NO}\W+){_SEVERAL}(?P<cue>on\s+|in\s+)?(?-i:(?P<right>[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){{0,2}}))\s*[.!]*\s*$",
    )
)
_DEMURRALS: Final = wordlist(
    "really true right sure much bad good yet fair easy only funny just too so a an the that this it fun well very great nice"
)
_FILLER: Final = re.compile(r"^(?:a|an|the|on|in|at|with|called|named)\s+", re.IGNORECASE)


def read_corrections(doc: Doc, said_at: datetime) -> Iterator[Correction]:
    """The corrections of an utterance, each place once.

    A weekday or date is given as its absolute form, so that it can be compared with a stored one.
    Where the old value is not named, `wrong` is "" and `relation` says which sort of value is
    meant.
    """
    text = doc.text
    if text.rstrip().endswith("?"):
        return
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            right, wrong = groups["right"], groups.get("wrong") or ""
            if any(
                match.start() < stop and start < match.end() for start, stop in taken
            ) or not all(
                _value(doc, match, name) for name in ("right", "wrong") if groups.get(name)
            ):
                continue
            taken.append(match.span())
            value, dated = _absolute(right, said_at)
            yield Correction(
                _absolute(wrong, said_at)[0],
                value,
                match.start(),
                match.end(),
                relation=_relation(match, dated=dated),
            )


def admits_mistake(text: str) -> bool:
    """Whether an utterance says that something said before was wrong."""
    return bool(_ADMITTED.search(text))


def _value(doc: Doc, match: re.Match[str], name: str) -> bool:
    """Whether the words are a value.

    A noun, a name, a number or a day, not a clause or a remark.
    """
    words = [token for token in doc if match.start(name) <= token.idx < match.end(name)]
    if not words or words[0].lower_ in _DEMURRALS:
        return False
    return not any(
        token.pos_ in ("AUX", "PRON", "SCONJ", "INTJ", "ADP", "PART")
        or (token.tag_ in ("VBD", "VBZ", "VBP", "VBG") and token.i > words[0].i)
        for token in words
    )


def _relation(match: re.Match[str], *, dated: bool) -> str:
    if dated:
        return IS_ON.name
    words = match[0].lower()
    if re.search(r"\b(?:called|named|name|spelled|spelt)\b", words):
        return IS_CALLED.name
    cue = (match.groupdict().get("cue") or "").strip().lower()
    return IS_IN.name if cue == "in" else ""


def _absolute(value: str, said_at: datetime) -> tuple[str, bool]:
    """The value without its article, a day as a date; and whether it was one."""
    plain = _FILLER.sub("", value).strip()
    mentions = find_times(f"on {plain}", said_at, ahead=True) if plain else ()
    if (
        len(mentions) == 1
        and mentions[0].granularity in (Granularity.DAY, Granularity.MONTH, Granularity.YEAR)
        and mentions[0].stop - mentions[0].start >= len(plain)
    ):
        return format_time_bare(mentions[0]), True
    return plain, False
