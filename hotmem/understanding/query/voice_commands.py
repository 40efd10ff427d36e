"""What a user asks of the memory itself.

"forget everything about Tom", "what do you know about me?", "this is off the record".
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from hotmem.text.truncation import truncate_middle
from hotmem.understanding.query.off_record import Scope, find_record_request
from hotmem.understanding.query.utterance import without_hesitations

MAX_WORDS: Final = 25
"""Words of a command; a longer utterance tells something."""


class CommandKind(StrEnum):
    """What is to be done."""

    REMEMBER = "remember"
    FORGET_LAST = "forget last"
    FORGET_ABOUT = "forget about"
    FORGET_ALL = "forget all"
    UNDO = "undo"
    LIST_ALL = "list all"
    EXPLAIN_SOURCE = "explain source"
    OFF_RECORD = "off record"
    ON_RECORD = "on record"
    SKIP_TURN = "skip turn"
    SKIP_LAST = "skip last"


DELETIONS: Final = frozenset(
    {CommandKind.FORGET_LAST, CommandKind.FORGET_ABOUT, CommandKind.FORGET_ALL}
)
"""What deletes, and is done only once the user has confirmed it."""

NOT_STORED: Final = frozenset(
    {CommandKind.OFF_RECORD, CommandKind.SKIP_TURN, CommandKind.SKIP_LAST}
)
"""What says that something is not to be kept."""

USER_ONLY: Final = DELETIONS | {
    CommandKind.UNDO,
    CommandKind.SKIP_LAST,
    CommandKind.ON_RECORD,
    CommandKind.LIST_ALL,
}
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

    kind: CommandKind
    about: str = ""
    turns: int = 1
    continues: bool = False


_POLITE: Final = (
    r"^\W*(?:(?:hey|ok|okay|please|so|and|oh|also|now|then|just|no|yeah|well|right|listen|alright|actually|(?:can|could|would|will)\s+you"
    r"|i\s+want\s+you\s+to|i['’]d\s+like\s+you\s+to"
    r"|you\s+(?:can|should|must))[,\s]+)*"
)
_DELETE: Final = r"(?:forget|delete|erase|remove|wipe)"
_END: Final = r"[\s,]*(?:please|now|again|thanks|thank\s+you)?\W*$"

_DELETED: Final = r"that|it|this|them|those|everything|all\s+of\s+(?:it|that|them)|it\s+all|what\s+you\s+(?:just\s+)?(?:deleted|forgot|erased|removed)"

_COMMANDS: Final = tuple(
    (order, re.compile(pattern, re.IGNORECASE))
    for order, pattern in (
        (
            CommandKind.FORGET_ALL,
            rf"{_POLITE}{_DELETE}\s+(?:everything|all|(?:all\s+)?(?:of\s+)?(?:my|your)\s+(?:data|memor(?:y|ies)))"
            rf"(?:\s+(?:that\s+)?(?:you\s+(?:know|have)|i(?:['’]ve|\s+have)?\s+(?:ever\s+)?(?:said|told\s+you)))?{_END}",
        ),
        (
            CommandKind.FORGET_ABOUT,
            rf"{_POLITE}{_DELETE}\s+(?:everything|all|anything|whatever|what)\b[^.?!]*?\b(?:about|of)\s+(?P<about>[^.?!,]+?){_END}",
        ),
        (
            CommandKind.FORGET_LAST,
            rf"{_POLITE}{_DELETE}\s+(?:that|this|what\s+i\s+(?:have\s+)?(?:just\s+)?(?:said|told\s+you)|my\s+last\s+\w+){_END}",
        ),
        (
            CommandKind.UNDO,
            rf"{_POLITE}(?:undo|un-?delete|un-?forget|restore)(?:\s+(?:{_DELETED}))?{_END}"
            rf"|{_POLITE}(?:bring|get|put|give\s+me)\s+(?:{_DELETED})\s+back{_END}|{_POLITE}bring\s+back\s+(?:{_DELETED}){_END}"
            rf"|{_POLITE}i\s+(?:want|need)\s+(?:{_DELETED})\s+back{_END}",
        ),
        (
            CommandKind.LIST_ALL,
            r"\bwhat\s+(?:(?:all|else)\s+)?(?:do|did|have)\s+you\s+(?:know|remember(?:ed)?|store[d]?|save[d]?|learn(?:ed"
            r"|t)?)(?:\s+all)?\s+(?:about|of|on)\s+me\b"
            r"|\b(?:everything|all|what)\s+you\s+(?:know|remember|have\s+stored)\s+about\s+me\b",
        ),
        (
            CommandKind.EXPLAIN_SOURCE,
            r"^\W*(?:(?:and|but|wait|hey|so)\W+)*(?:how\s+(?:do|did|can|could|come)\s+you\s+(?:know|remember)\s+(?:about\s+)?(?:that|this|it)"
            rf"|who\s+told\s+you\s+(?:that|this)|where\s+did\s+you\s+(?:get|hear|learn)\s+(?:that|this)(?:\s+from)?|when\s+did\s+i\s+(?:say"
            rf"|tell\s+you)\s+that){_END}",
        ),
        (
            CommandKind.REMEMBER,
            rf"{_POLITE}(?:remember\s+(?:that|this)|don['’]?t\s+forget|keep\s+in\s+mind|make\s+a\s+note|note\s+(?:that|down)|(?:save"
            rf"|store)\s+(?:that|this))\b",
        ),
    )
)
_RECORD_COMMANDS: Final = {
    Scope.OFF: CommandKind.OFF_RECORD,
    Scope.ON: CommandKind.ON_RECORD,
    Scope.TURN: CommandKind.SKIP_TURN,
    Scope.BEFORE: CommandKind.SKIP_LAST,
}
_DETERMINER: Final = re.compile(r"^(?:my|our|the|that|this|a|an)\s+", re.IGNORECASE)
_NO_TOPIC: Final = frozenset({"me", "myself", "us", "it", "that", "this"})


@lru_cache(maxsize=4)
def find_command(text: str) -> Command | None:
    """The command an utterance gives, if it gives one.

    What is not to be kept may stand at either end of a long one.

    A turn is looked at several times on its way: the last four answers are kept.
    """
    text = truncate_middle(text)
    asked = find_record_request(text)
    if asked is not None:
        return Command(_RECORD_COMMANDS[asked.scope], turns=asked.turns, continues=asked.continues)
    text = without_hesitations(text)
    if len(text.split()) > MAX_WORDS:
        return None
    for order, pattern in _COMMANDS:
        match = pattern.search(text)
        if match is None or (order is CommandKind.REMEMBER and text.rstrip().endswith("?")):
            continue
        about = _DETERMINER.sub("", (match.groupdict().get("about") or "").strip())
        if order is CommandKind.FORGET_ABOUT and about.casefold() in _NO_TOPIC:
            order = (
                CommandKind.FORGET_ALL
                if about.casefold() in ("me", "myself", "us")
                else CommandKind.FORGET_LAST
            )
        return Command(order, about if order is CommandKind.FORGET_ABOUT else "")
    return None
