"""Voice commands: "forget everything about Tom", "this is off the record"."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from hotmem.text.truncation import truncate_middle
from hotmem.understanding.query.off_record import Scope, find_record_request
from hotmem.understanding.query.utterance import without_hesitations

MAX_WORDS: Final = 25
"""Maximum number of words of a command; a longer utterance has other content."""


class CommandKind(StrEnum):
    """The kind of a voice command."""

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
"""Commands that delete, which the user must confirm."""

NOT_STORED: Final = frozenset(
    {CommandKind.OFF_RECORD, CommandKind.SKIP_TURN, CommandKind.SKIP_LAST}
)
"""Commands that exclude turns from the memory."""

USER_ONLY: Final = DELETIONS | {
    CommandKind.UNDO,
    CommandKind.SKIP_LAST,
    CommandKind.ON_RECORD,
    CommandKind.LIST_ALL,
}
"""Commands that only the user may give, not other speakers."""


@dataclass(frozen=True, slots=True)
class Command:
    """A voice command.

    Attributes:
        kind: The kind of command.
        about: Of `FORGET_ABOUT`, the topic, without a determiner.
        turns: Of `SKIP_LAST`, the number of the user's turns.
        continues: Of `ON_RECORD`, whether the rest of the utterance is to be stored.
    """

    kind: CommandKind
    about: str = ""
    turns: int = 1
    continues: bool = False


_POLITE: Final = (
    r"^\W*(?:(?:hey|ok|okay|please|so|and|oh|also|now|then|just|no|yeah|well|right|listen"
    r"|alright|actually|(?:can|could|would|will)\s+you"
    r"|i\s+want\s+you\s+to|i['’]d\s+like\s+you\s+to"
    r"|you\s+(?:can|should|must))[,\s]+)*"
)
_DELETE: Final = r"(?:forget|delete|erase|remove|wipe)"
_END: Final = r"[\s,]*(?:please|now|again|thanks|thank\s+you)?\W*$"

_DELETED: Final = (
    r"that|it|this|them|those|everything|all\s+of\s+(?:it|that|them)|it\s+all"
    r"|what\s+you\s+(?:just\s+)?(?:deleted|forgot|erased|removed)"
)

_COMMANDS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            CommandKind.FORGET_ALL,
            rf"{_POLITE}{_DELETE}\s+(?:everything|all|(?:all\s+)?(?:of\s+)?(?:my"
            rf"|your)\s+(?:data|memor(?:y|ies)))"
            rf"(?:\s+(?:that\s+)?(?:you\s+(?:know|have)|i(?:['’]ve"
            rf"|\s+have)?\s+(?:ever\s+)?(?:said|told\s+you)))?{_END}",
        ),
        (
            CommandKind.FORGET_ABOUT,
            (
                rf"{_POLITE}{_DELETE}\s+(?:everything|all|anything|whatever"
                rf"|what)\b[^.?!]*?\b(?:about|of)\s+(?P<about>[^.?!,]+?){_END}"
            ),
        ),
        (
            CommandKind.FORGET_LAST,
            (
                rf"{_POLITE}{_DELETE}\s+(?:that|this|what\s+i\s+(?:have\s+)?(?:just\s+)?(?:said"
                rf"|told\s+you)|my\s+last\s+\w+){_END}"
            ),
        ),
        (
            CommandKind.UNDO,
            rf"{_POLITE}(?:undo|un-?delete|un-?forget|restore)(?:\s+(?:{_DELETED}))?{_END}"
            rf"|{_POLITE}(?:bring|get|put|give\s+me)\s+(?:{_DELETED})\s+back{_END}"
            rf"|{_POLITE}bring\s+back\s+(?:{_DELETED}){_END}"
            rf"|{_POLITE}i\s+(?:want|need)\s+(?:{_DELETED})\s+back{_END}",
        ),
        (
            CommandKind.LIST_ALL,
            r"\bwhat\s+(?:(?:all|else)\s+)?(?:do|did|have)\s+you\s+(?:know|remember(?:ed)?"
            r"|store[d]?|save[d]?|learn(?:ed"
            r"|t)?)(?:\s+all)?\s+(?:about|of|on)\s+me\b"
            r"|\b(?:everything|all|what)\s+you\s+(?:know|remember|have\s+stored)\s+about\s+me\b",
        ),
        (
            CommandKind.EXPLAIN_SOURCE,
            r"^\W*(?:(?:and|but|wait|hey|so)\W+)*(?:how\s+(?:do|did|can|could"
            r"|come)\s+you\s+(?:know|remember)\s+(?:about\s+)?(?:that|this|it)"
            rf"|who\s+told\s+you\s+(?:that|this)|where\s+did\s+you\s+(?:get|hear|learn)\s+(?:that"
            rf"|this)(?:\s+from)?|when\s+did\s+i\s+(?:say"
            rf"|tell\s+you)\s+that){_END}",
        ),
        (
            CommandKind.REMEMBER,
            rf"{_POLITE}(?:remember\s+(?:that|this)|don['’]?t\s+forget|keep\s+in\s+mind"
            rf"|make\s+a\s+note|note\s+(?:that|down)|(?:save"
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
    """Find the voice command in an utterance.

    A request not to store something may be at either end of a long utterance; other commands must
    be short. Cached, as several stages ask for the same turn.
    """
    text = truncate_middle(text)
    asked = find_record_request(text)
    if asked is not None:
        return Command(_RECORD_COMMANDS[asked.scope], turns=asked.turns, continues=asked.continues)
    text = without_hesitations(text)
    if len(text.split()) > MAX_WORDS:
        return None
    for kind, pattern in _COMMANDS:
        match = pattern.search(text)
        if match is None or (kind is CommandKind.REMEMBER and text.rstrip().endswith("?")):
            continue
        about = _DETERMINER.sub("", (match.groupdict().get("about") or "").strip())
        if kind is CommandKind.FORGET_ABOUT and about.casefold() in _NO_TOPIC:
            kind = (
                CommandKind.FORGET_ALL
                if about.casefold() in ("me", "myself", "us")
                else CommandKind.FORGET_LAST
            )
        return Command(kind, about if kind is CommandKind.FORGET_ABOUT else "")
    return None
