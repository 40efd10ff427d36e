"""Words as the metric and the baselines count them, independent of the system under test."""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")

STOP_WORDS: Final = frozenset(
    """
    a an the this that these those here there i me my mine myself you your yours yourself
    yourselves he him his himself she her hers herself it its itself we us our ours ourselves
    they them their theirs themselves one ones someone something anyone anything everyone
    everything am is are was were be been being do does did doing done have has had having will
    would shall should can could might must and or but nor if then else so than because as until
    while though although unless whether of at by for with about against between into through
    during before after above below to from up down in out on off over under again further once
    all any both each few more most other others some such only own same too very just also not
    no yes yeah ok okay oh hey hi hello wow well really quite what which who whom whose when
    where why how i'm i've i'd i'll you're you've you'd you'll he'd he'll she'd she'll we're
    we've we'd we'll they're they've they'd they'll it'd it'll that'll isn't aren't wasn't
    weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't shan't shouldn't can't
    cannot couldn't mustn't mightn't let's let get got
    """.split()  # noqa: SIM905 - a paragraph reads better than a hundred quoted words
)
"""English function words, contractions and interjections. "May" is not included because it is a
month."""


def words(text: str) -> list[str]:
    """Return the words of a text: lower case, in order, straight apostrophes, without 's."""
    return [
        match[0].lower().replace("\u2019", "'").removesuffix("'s") for match in _WORD.finditer(text)
    ]


def content_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text that are not stop words."""
    return frozenset(words(text)) - STOP_WORDS
