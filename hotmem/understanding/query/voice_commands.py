"""What a user asks of the memory itself.

"forget everything about Tom", "what do you know about me?", "this is off the record".
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from hotmem.text.readable import readable_ends
from hotmem.understanding.query.off_record import Scope, record_request
from hotmem.understanding.query.utterance import without_hesitations

LONGEST: Final = 25
"""Words of a command; a longer utterance tells something."""


class Order(StrEnum):
    """What is to be done."""

    KEEP = "keep"
    FORGET_LAST = "forget last"
    FORGET_ABOUT = "forget about"
    FORGET_ALL = "forget all"
    UNDO = "undo"
    TELL_ALL = "tell all"
    TELL_SOURCE = "tell source"
    OFF_RECORD = "off record"
    ON_RECORD = "on record"
    NOT_THIS = "not this"
    NOT_LAST = "not last"


FORGETTING: Final = frozenset({Order.FORGET_LAST, Order.FORGET_ABOUT, Order.FORGET_ALL})
"""What deletes, and is done only once the user has confirmed it."""

NOT_KEEPING: Final = frozenset({Order.OFF_RECORD, Order.NOT_THIS, Order.NOT_LAST})
"""What says that something is not to be kept."""

OWNERS: Final = FORGETTING | {Order.UNDO, Order.NOT_LAST, Order.ON_RECORD, Order.TELL_ALL}
"""What only the user may ask, and nobody else in the room."""


@dataclass(frozen=True, slots=True)
class Command:
    """What the user asks.

    Attributes:
        order: What is to be done.
        about: Of `FORGET_ABOUT`, whom or what it is about, without "my" and the like.
        turns: Of `NOT_LAST`, how many turns of the user's.
        tells: Of `ON_RECORD`, whether the utterance goes on and tells something.
    """

    order: Order
    about: str = ""
    turns: int = 1
    tells: bool = False


_POLITE: Final = (
    r"^\W*(?:(?:hey|ok|okay|please|so|and|oh|also|now|then|just|no|yeah|well|right|listen|alright|actually|(?:can|could|would|will)\s+you"
    r"|i\s+want\s+you\s+to|i['’]d\s+like\s+you\s+to"
    r"|you\s+(?:can|should|must))[,\s]+)*"
)
_DELETE: Final = r"(?:forget|delete|erase|remove|wipe)"
_END: Final = r"[\s,]*(?:please|now|again|thanks|thank\s+you)?\W*$"

_WHAT_WENT: Final = r"that|it|this|them|those|everything|all\s+of\s+(?:it|that|them)|it\s+all|what\s+you\s+(?:just\s+)?(?:deleted|forgot|erased|removed)"

_ORDERS: Final = tuple(
    (order, re.compile(pattern, re.IGNORECASE))
    for order, pattern in (
        (
            Order.FORGET_ALL,
            rf"{_POLITE}{_DELETE}\s+(?:everything|all|(?:all\s+)?(?:of\s+)?(?:my|your)\s+(?:data|memor(?:y|ies)))"
            rf"(?:\s+(?:that\s+)?(?:you\s+(?:know|have)|i(?:['’]ve|\s+have)?\s+(?:ever\s+)?(?:said|told\s+you)))?{_END}",
        ),
        (
            Order.FORGET_ABOUT,
            rf"{_POLITE}{_DELETE}\s+(?:everything|all|anything|whatever|what)\b[^.?!]*?\b(?:about|of)\s+(?P<about>[^.?!,]+?){_END}",
        ),
        (
            Order.FORGET_LAST,
            rf"{_POLITE}{_DELETE}\s+(?:that|this|what\s+i\s+(?:have\s+)?(?:just\s+)?(?:said|told\s+you)|my\s+last\s+\w+){_END}",
        ),
        (
            Order.UNDO,
            rf"{_POLITE}(?:undo|un-?delete|un-?forget|restore)(?:\s+(?:{_WHAT_WENT}))?{_END}"
            rf"|{_POLITE}(?:bring|get|put|give\s+me)\s+(?:{_WHAT_WENT})\s+back{_END}|{_POLITE}bring\s+back\s+(?:{_WHAT_WENT}){_END}"
            rf"|{_POLITE}i\s+(?:want|need)\s+(?:{_WHAT_WENT})\s+back{_END}",
        ),
        (
            Order.TELL_ALL,
            r"\bwhat\s+(?:(?:all|else)\s+)?(?:do|did|have)\s+you\s+(?:know|remember(?:ed)?|store[d]?|save[d]?|learn(?:ed"
            r"|t)?)(?:\s+all)?\s+(?:about|of|on)\s+me\b"
            r"|\b(?:everything|all|what)\s+you\s+(?:know|remember|have\s+stored)\s+about\s+me\b",
        ),
        (
            Order.TELL_SOURCE,
            r"^\W*(?:(?:and|but|wait|hey|so)\W+)*(?:how\s+(?:do|did|can|could|come)\s+you\s+(?:know|remember)\s+(?:about\s+)?(?:that|this|it)"
            rf"|who\s+told\s+you\s+(?:that|this)|where\s+did\s+you\s+(?:get|hear|learn)\s+(?:that|this)(?:\s+from)?|when\s+did\s+i\s+(?:say"
            rf"|tell\s+you)\s+that){_END}",
        ),
        (
            Order.KEEP,
            rf"{_POLITE}(?:remember\s+(?:that|this)|don['’]?t\s+forget|keep\s+in\s+mind|make\s+a\s+note|note\s+(?:that|down)|(?:save"
            rf"|store)\s+(?:that|this))\b",
        ),
    )
)
_OF_RECORD: Final = {
    Scope.OFF: Order.OFF_RECORD,
    Scope.ON: Order.ON_RECORD,
    Scope.TURN: Order.NOT_THIS,
    Scope.BEFORE: Order.NOT_LAST,
}
_OWN: Final = re.compile(r"^(?:my|our|the|that|this|a|an)\s+", re.IGNORECASE)
_ME: Final = frozenset({"me", "myself", "us", "it", "that", "this"})


@lru_cache(maxsize=4)
def find_command(text: str) -> Command | None:
    """The command an utterance gives, if it gives one.

    What is not to be kept may stand at either end of a long one.

    A turn is looked at several times on its way: the last four answers are kept.
    """
    text = readable_ends(text)
    asked = record_request(text)
    if asked is not None:
        return Command(_OF_RECORD[asked.scope], turns=asked.turns, tells=asked.tells)
    text = without_hesitations(text)
    if len(text.split()) > LONGEST:
        return None
    for order, pattern in _ORDERS:
        match = pattern.search(text)
        if match is None or (order is Order.KEEP and text.rstrip().endswith("?")):
            continue
        about = _OWN.sub("", (match.groupdict().get("about") or "").strip())
        if order is Order.FORGET_ABOUT and about.casefold() in _ME:
            order = (
                Order.FORGET_ALL
                if about.casefold() in ("me", "myself", "us")
                else Order.FORGET_LAST
            )
        return Command(order, about if order is Order.FORGET_ABOUT else "")
    return None
