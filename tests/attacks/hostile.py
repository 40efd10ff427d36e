"""Texts that are expensive to process, and a check that the event loop is not blocked."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

UNITS: Final = {
    "brackets": "(", "closing": ")", "squares": "[", "nested": "([{", "double quotes": '"',
    "single quotes": "'", "curly quotes": "“",
    "mixed quotes": "“'\"‘", "unbalanced": '"a ', "emoji": "😀", "family": "👨\u200d👩\u200d👧",
    "flags": "🇩🇪", "skin tones": "👍🏽",
    "joiners": "\u200d", "selectors": "❤\ufe0f", "marks": "\u0301", "accents": "e\u0301\u0301",
    "one word": "a", "capitals": "A",
    "address": "http://a.b/c?d=", "schemes": "http://", "initials": "a.", "new lines": "\n",
    "lines": "a\n", "digits": "7", "numbers": "7 ",
    "thousands": "1,", "days": "1/", "dates": "1-1-1-", "clocks": "5:30 ", "scripts": "aяあ",
    "tabs": "\ta", "gaps": f"a{' ' * 500}",
    "blank lines": f"a{chr(10) * 300}", "no-break spaces": "a\xa0\xa0\xa0",
    "wide spaces": "a\u3000", "contractions": "it's ",
    "owners": "'s", "hyphens": "-", "chains": "a-", "dashes": "—", "dashes apart": " - ",
    "right to left": "שלום ", "arabic": "ع",
    "ligatures": "ﷺ", "hangul": "한", "full width": "ａ", "mathematical": "𝔞", "thai": "ก็",
    "chinese": "日本語", "turned": "\u202e",
    "zero width": "a\u200b", "ands": "and ", "noes": "no ", "mine": "my ", "questions": "?",
    "full stops": ". ", "dots": ".",
    "commas": ", ", "semicolons": ";", "colons": "user:", "tags": "</memory>", "angles": "<",
    "hashes": "#a ", "mail": "a@b.c ",
    "versions": "1.", "paths": "a/b/", "underscores": "_", "stars": "**a** ", "signs": "=+",
    "plus": "+1-",
    "don't save": "don't save that ", "off the record": "off the record ",
    "remind me": "remind me ", "yesterday": "yesterday ",
    "tomorrow": "tomorrow at 5 ", "forget": "forget ", "years": "1999 day, ", "told": '"\ntold ',
    "hesitations": "um ",
    "no wait": "no, wait, ", "I mean": "sorry I mean ", "names": "Ana Bo Cy ", "of": "of the ",
    "because": "because I like ",
    "call me": "call me ", "said": "he said that ", "which": "which I ", "not": "not ",
    "half": "twenty one and a half ", "backticks": "`",
    "json": '{"a":', "slashes": "\\", "controls": "\x00", "surrogates": "\ud800",
    "byte orders": "\ufeff", "separators": "a\u2028",
}  # fmt: skip
"""What an attack repeats."""


def repeated(unit: str, characters: int) -> str:
    """Return the unit, repeated to a length."""
    return (unit * (characters // len(unit) + 1))[:characters]


BEAT_S: Final = 0.005


@dataclass
class Watch:
    """A measurement of an event loop.

    Attributes:
        stalled_s: Seconds for which it was blocked at most.
    """

    stalled_s: float = 0.0

    async def beat(self) -> None:
        """Record how late the loop resumes."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(BEAT_S)
            now = time.monotonic()
            self.stalled_s = max(self.stalled_s, now - last - BEAT_S)
            last = now


@asynccontextmanager
async def watched() -> AsyncIterator[Watch]:
    """Measure for how long the loop is blocked inside the block."""
    watch = Watch()
    beating = asyncio.create_task(watch.beat())
    try:
        yield watch
        await asyncio.sleep(2 * BEAT_S)
    finally:
        beating.cancel()
