"""Corrections of earlier turns: "No, I said Potola, not Paola", "actually it's on Tuesday"."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from hotmem.temporal import Granularity, find_times, format_time_bare
from hotmem.text.word_sets import wordlist
from hotmem.types import Correction
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.relations import IS_CALLED, IS_IN, IS_ON, LIVES_IN
from hotmem.understanding.facts.statements import find_contrasts

_VALUE: Final = (
    r"(?:(?:a|an|the|on|in|at|with)\s+)?(?P<{name}>[\w'’-]+(?:\s+(?!not\b|but\b"
    r"|and\b|it\b|so\b|because\b)[\w'’-]+){{0,3}}?)"
)
_RIGHT: Final = _VALUE.format(name="right")
_WRONG: Final = _VALUE.format(name="wrong")
_IT: Final = (
    r"(?:it|that|he|she|they|(?:(?:his|her|its|my|their|the)\s+(?:\w+(?:['’]s)?\s+)?name)|(?:my"
    r"|our|the)\s+\w+(?:\s+\w+)?)"
    r"(?:['’]s|['’]re|\s+is|\s+was|\s+are)(?:\s+actually)?"
)
_NO: Final = (
    r"(?:no|nope|nah|wait|sorry|actually|oh no|oops|well|correction|hold on|i mean|wrong"
    r"|not quite|(?:you|i) (?:got|had) (?:that|it) wrong"
    r"|you misheard(?: me)?|that(?:['’]s| is| was) (?:wrong|not right))"
)
_SAID: Final = r"(?:(?:i\s+(?:said|meant|mean)|make)(?:\s+(?:it['’]s|it|that))?)"
_NOT: Final = r"(?:\s*,?\s*(?:by the way|actually|though))?\s*,?\s*(?:and\s+)?not"
_COUNT: Final = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_ADMITTED: Final = re.compile(
    r"\b(?:i (?:said|told you) (?:something|it) (?:silly|wrong|stupid)|(?:told"
    r"|gave) you the wrong|(?:you|i) mis(?:heard|spoke|remembered)"
    r"|(?:that|it|what i (?:said|told you)\b[^.,!?]*) (?:was|is) (?:wrong|not right|a mistake)"
    r"|that['’]s (?:wrong|not right)|my mistake|my bad"
    r"|(?:i|you) (?:got|had|mixed) (?:that|it|them|those) (?:wrong|up)|correction|scratch that"
    r"|i (?:just )?(?:checked|looked it up)"
    r"|(?:sorry|no),? wait|wait,? no|(?:oh|no|wait|sorry|but),? (?:he|she|it|they)(?:['’](?:s"
    r"|re)| is| are)? actually"
    r"|i (?:always|often|keep) (?:mix|confus|get)\w*)\b",
    re.IGNORECASE,
)
"""Phrases that admit a mistake, in this turn or an earlier one.

"She actually lives in Rome" alone may be said of anyone.
"""

_REPEATS: Final = "{0,8}"
"""Bound on repeated negations, which keeps the match time linear."""

_END: Final = r"(?=\s*(?:[.!;,]|$))"

_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\b{_NO}\W+){_REPEATS}\b{_SAID}\s+{_RIGHT}{_NOT}\s+{_WRONG}{_END}",
        rf"(?:\b{_NO}\W+){_REPEATS}\b{_IT}\s+(?:called\s+"
        rf"|named\s+)?(?!not\b){_RIGHT}{_NOT}\s+{_WRONG}{_END}",
        rf"(?:\b(?P<home>lives?|living)\s+)?\b(?:at|in|from)\s+{_RIGHT}\s*,?\s*(?:and\s+)?not\s+"
        rf"(?:(?:at|in|from)\s+)?{_WRONG}{_END}",
        rf"\b(?P<right>{_COUNT}\s+[\w'’-]+)[^.,;!?]*,\s*(?:and\s+)?not\s+{_COUNT}{_END}",
        rf"\bnot\s+{_WRONG}\s*,\s*(?:but\s+)?{_IT}\s+(?!no\b){_RIGHT}{_END}",
        rf"\bdid i say\s+{_WRONG}\s*\?\s*(?:{_NO}\W+){_REPEATS}{_SAID}\s+{_RIGHT}{_END}",
        rf"\bcall(?:ed|ing)?\s+(?:him|her|it"
        rf"|them)\s+{_WRONG}\s*[.,;]\s*(?:but\s+)?{_IT}\s+{_RIGHT}{_END}",
        rf"\b{_IT}\s+(?:spelled|spelt)\s+{_RIGHT}{_END}",
        rf"(?:^|(?<=[.!?]\s))(?:{_NO}\W+(?:{_NO}\W+){_REPEATS}(?:{_IT}\s+)?)?not\s+(?:called\s+"
        rf"|named\s+)?{_WRONG}\s*[,.;]\s*(?:but\s+)?(?:{_IT}\s+(?:called\s+|named\s+)?"
        rf"|{_SAID}\s+)?{_RIGHT}{_END}",
        rf"^(?:{_NO}\W+){_REPEATS}(?!not\b){_RIGHT}(?:\s*,|(?P<open>))\s*not\s+{_WRONG}\W*$",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_REPEATS}{_SAID}\s+{_RIGHT}\s*[.!]*\s*$",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_REPEATS}(?:{_IT})\s+(?P<cue>called\s+"
        rf"|named\s+|on\s+|in\s+)(?!not\b){_RIGHT}{_END}",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_REPEATS}(?:(?:his|her|its|their|the"
        rf"|my)\s+name(?:['’]s|\s+is)\s+)(?!not\b){_RIGHT}{_END}",
        rf"^{_NO}\W+(?:{_NO}\W+){_REPEATS}(?P<right>{_COUNT}\s+[\w'’-]+)\s*[.!]*\s*$",
        rf"^{_NO}\W+(?:{_NO}\W+){_REPEATS}(?P<cue>on\s+"
        rf"|in\s+)?(?-i:(?P<right>[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){{0,2}}))\s*[.!]*\s*$",
    )
)
_NON_VALUES: Final = wordlist(
    "really true right sure much bad good yet fair easy only funny just too so a an the that "
    "this it fun well very great nice"
)
_LEADING_WORDS: Final = re.compile(r"^(?:a|an|the|on|in|at|with|called|named)\s+", re.IGNORECASE)


def read_corrections(doc: Doc, said_at: datetime) -> Iterator[Correction]:
    """Yield the corrections of an utterance, without overlaps.

    Days become ISO dates, as stored facts have them. `wrong` is "" if the old value is not named;
    `relation` then says which value is meant.
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
                _is_value(doc, match, name) for name in ("right", "wrong") if groups.get(name)
            ):
                continue
            if groups.get("open") is not None and not any(find_contrasts(doc)):
                continue
            taken.append(match.span())
            value, dated = _resolve_date(right, said_at)
            yield Correction(
                _resolve_date(wrong, said_at)[0],
                value,
                match.start(),
                match.end(),
                relation=_relation(match, dated=dated),
            )


def admits_mistake(text: str) -> bool:
    """Whether an utterance says that something said earlier was wrong."""
    return bool(_ADMITTED.search(text))


def _is_value(doc: Doc, match: re.Match[str], name: str) -> bool:
    """Whether the words are a value: a noun, name, number or day, and no clause or remark."""
    words = [token for token in doc if match.start(name) <= token.idx < match.end(name)]
    if not words or words[0].lower_ in _NON_VALUES:
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
    if match.groupdict().get("home"):
        return LIVES_IN.name
    cue = (match.groupdict().get("cue") or "").strip().lower()
    return IS_IN.name if cue == "in" else ""


def _resolve_date(value: str, said_at: datetime) -> tuple[str, bool]:
    """Return the value without its article, a day as its date, and whether it is one."""
    plain = _LEADING_WORDS.sub("", value).strip()
    mentions = find_times(f"on {plain}", said_at, ahead=True) if plain else ()
    if (
        len(mentions) == 1
        and mentions[0].granularity in (Granularity.DAY, Granularity.MONTH, Granularity.YEAR)
        and mentions[0].stop - mentions[0].start >= len(plain)
    ):
        return format_time_bare(mentions[0]), True
    return plain, False
