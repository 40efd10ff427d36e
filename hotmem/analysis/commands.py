"""What a user asks of the memory itself: "forget everything about Tom", "what do you know about me?", "this is off the record"."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

LONGEST: Final = 25
"""Words of a command; a longer utterance tells something."""


class Order(StrEnum):
    """What is to be done."""

    KEEP = "keep"
    FORGET_LAST = "forget last"
    FORGET_ABOUT = "forget about"
    FORGET_ALL = "forget all"
    TELL_ALL = "tell all"
    TELL_SOURCE = "tell source"
    OFF_RECORD = "off record"
    ON_RECORD = "on record"


FORGETTING: Final = frozenset({Order.FORGET_LAST, Order.FORGET_ABOUT, Order.FORGET_ALL})
"""What deletes, and is done only once the user has confirmed it."""

RECORD: Final = frozenset({Order.OFF_RECORD, Order.ON_RECORD})
"""What says whether anything is kept."""


@dataclass(frozen=True, slots=True)
class Command:
    """An order and, of `FORGET_ABOUT`, whom or what it is about, without "my" and the like."""

    order: Order
    about: str = ""


_POLITE: Final = (
    r"^\W*(?:(?:hey|ok|okay|please|so|and|oh|also|now|then|just|no|actually|(?:can|could|would|will)\s+you|i\s+want\s+you\s+to|i['’]d\s+like\s+you\s+to"
    r"|you\s+(?:can|should|must))[,\s]+)*"
)
_DELETE: Final = r"(?:forget|delete|erase|remove|wipe)"
_LET_US: Final = r"(?:let['’]?s|(?:can|could|may|shall|should)\s+(?:we|i))"
_NOT_RETOLD: Final = r"(?:(?!\b(?:told|said|asked|spoke|talked|heard|was|were|did)\b)[^.?!])"
"""What somebody said off the record some time is no order."""
_END: Final = r"[\s,]*(?:please|now|again|thanks|thank\s+you)?\W*$"

_ORDERS: Final = tuple(
    (order, re.compile(pattern, re.IGNORECASE))
    for order, pattern in (
        (
            Order.OFF_RECORD,
            rf"{_POLITE}(?:(?:don['’]?t|do\s+not|never)\s+(?:remember|store|save|keep|record|write\s+down)"
            rf"\s+(?:(?:this|that|what\s+i|any\s+of\s+(?:this|that|what\s+i)|anything\s+(?:i|of|from)\b)\b|anything(?:\s+now)?{_END})"
            rf"|(?:(?:this|that|it|what\s+i)\b.{{0,20}}\b|(?:{_LET_US}|i|we|keep|go|talk|between)\b{_NOT_RETOLD}{{0,40}}?\b)?off\s+the\s+record\b"
            r"|stop\s+(?:remembering|recording|storing|taking\s+notes)\b)",
        ),
        (
            Order.ON_RECORD,
            rf"{_POLITE}(?:(?:(?:{_LET_US}|we(?:['’]re|\s+are)?|i(?:['’]m|\s+am)?)\s+)?(?:(?:go|be|get)\s+)?back\s+on\s+(?:the\s+)?record\b"
            r"|(?:remember|record|store|take\s+notes|start\s+(?:remembering|recording|storing|taking\s+notes))\s+(?:things\s+)?again\b)",
        ),
        (
            Order.FORGET_ALL,
            rf"{_POLITE}{_DELETE}\s+(?:everything|all|(?:all\s+)?(?:of\s+)?(?:my|your)\s+(?:data|memor(?:y|ies)))"
            rf"(?:\s+(?:that\s+)?(?:you\s+(?:know|have)|i(?:['’]ve|\s+have)?\s+(?:ever\s+)?(?:said|told\s+you)))?{_END}",
        ),
        (Order.FORGET_ABOUT, rf"{_POLITE}{_DELETE}\s+(?:everything|all|anything|whatever|what)\b[^.?!]*?\b(?:about|of)\s+(?P<about>[^.?!,]+?){_END}"),
        (Order.FORGET_LAST, rf"{_POLITE}{_DELETE}\s+(?:that|this|what\s+i\s+(?:have\s+)?(?:just\s+)?(?:said|told\s+you)|my\s+last\s+\w+){_END}"),
        (
            Order.TELL_ALL,
            r"\bwhat\s+(?:(?:all|else)\s+)?(?:do|did|have)\s+you\s+(?:know|remember(?:ed)?|store[d]?|save[d]?|learn(?:ed|t)?)(?:\s+all)?\s+(?:about|of|on)\s+me\b"
            r"|\b(?:everything|all|what)\s+you\s+(?:know|remember|have\s+stored)\s+about\s+me\b",
        ),
        (
            Order.TELL_SOURCE,
            r"^\W*(?:(?:and|but|wait|hey|so)\W+)*(?:how\s+(?:do|did|can|could|come)\s+you\s+(?:know|remember)\s+(?:about\s+)?(?:that|this|it)"
            rf"|who\s+told\s+you\s+(?:that|this)|where\s+did\s+you\s+(?:get|hear|learn)\s+(?:that|this)(?:\s+from)?|when\s+did\s+i\s+(?:say|tell\s+you)\s+that){_END}",
        ),
        (
            Order.KEEP,
            rf"{_POLITE}(?:remember\s+(?:that|this)|don['’]?t\s+forget|keep\s+in\s+mind|make\s+a\s+note|note\s+(?:that|down)|(?:save|store)\s+(?:that|this))\b",
        ),
    )
)
_OWN: Final = re.compile(r"^(?:my|our|the|that|this|a|an)\s+", re.IGNORECASE)
_ME: Final = frozenset({"me", "myself", "us", "it", "that", "this"})
_ASSENT: Final = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|please\s+do|do\s+(?:it|so|that)|go\s+ahead|confirm(?:ed)?|i(?:['’]m|\s+am)\s+sure|absolutely|definitely|ok(?:ay)?)\b",
    re.IGNORECASE,
)
_DOUBT: Final = re.compile(r"\b(?:no|not|don['’]?t|wait|but|never)\b", re.IGNORECASE)


def find_command(text: str) -> Command | None:
    """The command an utterance gives, if it gives one."""
    if len(text.split()) > LONGEST:
        return None
    for order, pattern in _ORDERS:
        match = pattern.search(text)
        if match is None or (order is Order.KEEP and text.rstrip().endswith("?")):
            continue
        about = _OWN.sub("", (match.groupdict().get("about") or "").strip())
        if order is Order.FORGET_ABOUT and about.casefold() in _ME:
            order = Order.FORGET_ALL if about.casefold() in ("me", "myself", "us") else Order.FORGET_LAST
        return Command(order, about if order is Order.FORGET_ABOUT else "")
    return None


def assents(text: str) -> bool:
    """Whether an utterance says yes, without a but."""
    return bool(_ASSENT.search(text)) and not _DOUBT.search(text)
