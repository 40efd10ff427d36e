"""Which items a reply used, and how: by the telling words that an item and the reply share.

The design's test, 30 % of the words shared, counts common words and words of the user's own question as use. Here only words
count that are neither: names, numbers and content words that the reply can only have from the item.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from hotmem.terms import stems
from hotmem.types import Item, ItemUse, UsageKind

QUOTE_WORDS: Final = 4
"""Words in a row that make a quote; three in a row are often idiom ("I would like")."""

REFERENCE_SHARE: Final = 0.5
INFLUENCE_SHARE: Final = 0.25
"""Share of an item's telling words in the reply from which it counts as referred to, or as of influence."""

_WORD: Final = re.compile(r"[\w']+")

COMMON: Final = """
a about after again all also am an and any are as at back be because been before but by called can could did do does doing done down for
from get go going good got had has have he her here hers him his how i if in into is it its just know like made make many may me mention
mentioned might more most much my name no not now of off ok okay on one only or other our out over own really remember said same say says
she should so some still such sure tell than that the their them then there these they thing think this those through to today told too
under until up us very want was way we well were what when where which while who whom whose why will with would yeah yes you your
"""
"""Words that tell nothing of where a reply comes from."""

COMMON_STEMS: Final = stems(COMMON)


def detect(items: Sequence[Item], query: str, reply: str) -> tuple[ItemUse, ...]:
    """How the reply used each item, in the items' order.

    Args:
        items: The block's items.
        query: The user's utterance; words it already held prove nothing.
        reply: What was heard of the reply.
    """
    said = stems(reply)
    asked = stems(query)
    return tuple(_use(item, said, asked, reply) for item in items)


def _use(item: Item, said: frozenset[str], asked: frozenset[str], reply: str) -> ItemUse:
    telling = stems(item.text) - COMMON_STEMS - asked - stems(item.speaker or "")
    shared = telling & said
    if not shared:
        return ItemUse(item, UsageKind.UNUSED, 0.0)
    share = len(shared) / len(telling)
    if _longest_run(item.text, reply) >= QUOTE_WORDS:
        return ItemUse(item, UsageKind.QUOTE, max(share, REFERENCE_SHARE))
    if share >= REFERENCE_SHARE or any(_is_name_or_number(word) and word.casefold() in reply.casefold() for word in _new_words(item.text, asked)):
        return ItemUse(item, UsageKind.REFERENCE, share)
    return ItemUse(item, UsageKind.INFLUENCE if share >= INFLUENCE_SHARE else UsageKind.UNUSED, share)


def _longest_run(text: str, reply: str) -> int:
    """Words of the longest run that both hold."""
    one, other = _WORD.findall(text.casefold()), _WORD.findall(reply.casefold())
    return SequenceMatcher(None, one, other, autojunk=False).find_longest_match().size


def _new_words(text: str, asked: frozenset[str]) -> list[str]:
    """Words after the first of each sentence that the question did not hold."""
    words = [word for sentence in re.split(r"[.!?]\s+", text) for word in _WORD.findall(sentence)[1:]]
    return [word for word in words if not stems(word) & asked and not stems(word) <= COMMON_STEMS]


def _is_name_or_number(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()
