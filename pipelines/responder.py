"""Rule-based responder, in place of an LLM.

It answers a question with the statement that shares most words with it: one of the context block,
else one of the conversation. Without such a statement it says that it does not know.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from dateutil import parser
from pipecat.frames.frames import (
    Frame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_context import (
    LLMContext,
    LLMSpecificMessage,
    LLMStandardMessage,
    standard_message_text,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from hotmem.block.rendering import CLOSING, OPENING
from hotmem.pipecat.context import collapse_spaces
from hotmem.text.word_sets import STOP_WORDS

MIN_SHARED: Final = 0.5
"""Minimum share of the question's content words in a statement that answers it."""

UNKNOWN: Final = "I don't know that. You haven't told me yet."
ACKNOWLEDGED: Final = "Thank you, I'll remember that."
CORRECTED: Final = "Thank you for putting me right. I'll remember that."
GREETING: Final = "Hello! Good to hear from you."

NOTICES: Final = {
    "The user asks to remember this": "Gladly. I'll keep it, word for word.",
    "The user asks that this is not kept": (
        "All right, this stays between us. Tell me when I may remember again."
    ),
    "What is said is kept again": "All right, from now on I remember again.",
    "The user asks to forget": "Shall I really forget {what}? It can't be brought back.",
    "Done: ": "Done, it is deleted.",
    "Nothing is known of the user": "I know nothing of you yet.",
    "What is known of the user": "This is what I know:",
    "The user asks how it is known": "It rests on this:",
    "The user asks how something is known": ("I used nothing from earlier conversations just now."),
}
"""Replies to notices of voice commands, by the start of the notice. Lists are read out."""

_FORGET = re.compile(r"The user asks to forget (.+)\. Nothing is deleted yet")
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_QUESTION = re.compile(
    r"(?:(?:and|so|well|okay|ok|hey|hi|hello|then|but|um|uh)\W+)*"
    r"(?:what|where|when|who|whose|which|how|why|do|does|did|am|is|are|was|were|can|could|will"
    r"|would|have|has)\b",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = rf"\d{{1,2}} {_MONTH}(?: \d{{4}})?"
_NOTE = re.compile(r"\s*\(([^()]*)\)$")
"""The note at the end of a line: its mark, until when it held, resolved days."""

_LINE = re.compile(
    rf'^({_DATE}) (?:[^"]{{0,80}}: "(?P<said>.*)"|(?:noted|summary): (?P<noted>.*?))'
    r"(?: \((?P<note>[^()]*)\))?$"
)
"""A line of a block: its date, a quote or a statement, and a note."""

_QUOTED = re.compile(r'^.*\b[Yy]ou said: "(.*)"$')
"""A reply of this responder, which quotes what was said."""

_NAME = re.compile(r"^Call them (.+?)\.(?: Their name is .*)?$", re.MULTILINE)
_SPEAKER = re.compile(r"^[A-Z][\w ]{0,30}: ")
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|mine|me|we|our|us)\b", re.IGNORECASE)


class Responder(FrameProcessor):
    """Answers every context frame at once, except speculative ones."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer context frames, and push all others."""
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
        elif not frame.speculation and (reply := reply_to(frame.context)):
            await self.push_frame(LLMFullResponseStartFrame())
            await self.push_frame(LLMTextFrame(reply))
            await self.push_frame(LLMFullResponseEndFrame())


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of a context block.

    Attributes:
        text: The text, without the note at its end.
        date: The date of the line.
        ended: Whether it is no longer true.
    """

    text: str
    date: date | None
    ended: bool


def reply_to(context: LLMContext) -> str:
    """The reply to the latest user message.

    Without a user message, a greeting by name, or "" if the name is not known.
    """
    messages = [
        message for message in context.get_messages() if not isinstance(message, LLMSpecificMessage)
    ]
    asked = [
        index
        for index, message in enumerate(messages)
        if message["role"] == "user" and not is_block(message)
    ]
    name = find_name(messages)
    if not asked:
        return greeting(name) if name else ""
    question = standard_message_text(messages[asked[-1]])
    before = messages[asked[-1] - 1] if asked[-1] else None
    block = standard_message_text(before) if before is not None and is_block(before) else ""
    if reply := reply_to_notice(block):
        return reply
    if not is_question(question):
        return acknowledgement(question, name)
    earlier = (one for one in reversed(messages[: asked[-1]]) if not is_block(one))
    said = (_QUOTED.sub(r"\1", collapse_spaces(standard_message_text(one))) for one in earlier)
    conversation = tuple(
        Statement(text, None, ended=False) for text in said if not is_question(text)
    )
    return answer(question, statements(block)) or answer(question, conversation) or UNKNOWN


def greeting(name: str) -> str:
    """A greeting, by name if there is one."""
    return GREETING.replace("Hello", f"Hello {name}") if name else GREETING


def find_name(messages: Sequence[LLMStandardMessage]) -> str:
    """The name by which to call the user, from a context block; "" if there is none."""
    blocks = (standard_message_text(message) for message in messages if is_block(message))
    return next((match[1] for block in blocks if (match := _NAME.search(block))), "")


def is_block(message: LLMStandardMessage) -> bool:
    """Whether a message is a context block or notice."""
    return message["role"] in ("user", "developer") and standard_message_text(message).startswith(
        OPENING
    )


def reply_to_notice(block: str) -> str:
    """The reply to the notice of a voice command; "" if the block is none."""
    notice, *lines = block.removeprefix(OPENING).removesuffix(CLOSING).strip().splitlines() or [""]
    reply = next((reply for start, reply in NOTICES.items() if notice.startswith(start)), None)
    if reply is None:
        return ""
    deletion = _FORGET.match(notice)
    target = (
        deletion[1].replace("they said", "you said").replace("of them", "of you")
        if deletion
        else "it"
    )
    items = (_NOTE.sub("", line).removeprefix("- ") for line in lines)
    return " ".join((reply.format(what=target), *items))


def is_question(utterance: str) -> bool:
    """Whether an utterance is a question; recognisers often omit the question mark."""
    return utterance.rstrip().endswith("?") or _QUESTION.match(utterance.lstrip()) is not None


def acknowledgement(utterance: str, name: str = "") -> str:
    """The reply to an utterance that is no question; a greeting is answered by name."""
    words = _WORD.findall(utterance.lower())
    if words and words[0] in ("no", "actually", "sorry"):
        return CORRECTED
    is_greeting = (
        bool(words) and words[0] in ("hello", "hi", "hey") and not _FIRST_PERSON.search(utterance)
    )
    return greeting(name) if is_greeting else ACKNOWLEDGED


def statements(block: str) -> tuple[Statement, ...]:
    """The statements of a block in order, without earlier questions."""
    lines = filter(None, (_LINE.match(line) for line in block.splitlines()))
    found = ((line["said"] or line["noted"], line) for line in lines)
    return tuple(
        Statement(text, _date(line[1]), ended="until" in (line["note"] or ""))
        for text, line in found
        if not is_question(text)
    )


def _date(text: str) -> date | None:
    """Parse a date of a block, "4 March" or "4 March 2025"; None if it is not a date."""
    try:
        moment: datetime = parser.parse(text, default=datetime(date.today().year, 1, 1))
        return moment.date()
    except ValueError:
        return None


def answer(question: str, known: tuple[Statement, ...]) -> str:
    """The statement with most of the question's content words; "" if none has enough.

    Of equal ones, the first that has not ended, then the latest, then the first of the block.
    """
    wanted = content_words(question)

    def score(statement: Statement) -> tuple[float, bool, date]:
        share = len(wanted & content_words(statement.text)) / len(wanted) if wanted else 1.0
        return share, not statement.ended, statement.date or date.min

    best = max(known, key=score, default=None)
    if best is None or score(best)[0] < MIN_SHARED:
        return ""
    words = _SPEAKER.sub("", best.text)
    if not _FIRST_PERSON.search(words):
        return words
    asks_when = "when" in _WORD.findall(question.lower())
    when = f"On {best.date.day} {best.date:%B} you" if asks_when and best.date else "You"
    return f'{when} said: "{words}"'


def content_words(text: str) -> frozenset[str]:
    """The words other than stop words, without common endings."""
    words = (word.removesuffix("'s") for word in _WORD.findall(text.lower()))
    return frozenset(
        _ENDING.sub("", word) if len(word) > 3 else word for word in words if word not in STOP_WORDS
    )
