"""A rule-based responder, not a language model.

It answers from the memory block it is given, else from the conversation it sees.

It lets the pipelines run anywhere and shows what the block is worth: it picks the statement that
shares most words with the question and says it back, or says that it does not know. It knows
nothing of its own.
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
from hotmem.text.stopwords import STOP_WORDS

LEAST_SHARED: Final = 0.5
"""Share of the question's content words that a statement must hold to count as its answer."""

UNKNOWN: Final = "I don't know that. You haven't told me yet."
NOTED: Final = "Thank you, I'll remember that."
CORRECTED: Final = "Thank you for putting me right. I'll remember that."
GREETING: Final = "Hello! Good to hear from you."

NOTICES: Final = {
    "The user asks to remember this": "Gladly. I'll keep it, word for word.",
    "The user asks that this is not kept": "All right, this stays between us. Tell me when I may remember again.",
    "What is said is kept again": "All right, from now on I remember again.",
    "The user asks to forget": "Shall I really forget {what}? It can't be brought back.",
    "Done: ": "Done, it is deleted.",
    "Nothing is known of the user": "I know nothing of you yet.",
    "What is known of the user": "This is what I know:",
    "The user asks how it is known": "It rests on this:",
    "The user asks how something is known": "I used nothing from earlier conversations just now.",
}
"""What is said when the memory tells what was asked of it, by how that begins. What it lists is
read out."""

_FORGET = re.compile(r"The user asks to forget (.+)\. Nothing is deleted yet")
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_ASKS = re.compile(
    r"(?:(?:and|so|well|okay|ok|hey|hi|hello|then|but|um|uh)\W+)*"
    r"(?:what|where|when|who|whose|which|how|why|do|does|did|am|is|are|was|were|can|could|will|would|have|has)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"dates without a year are in (\d{4})")
_HEADING = re.compile(r"^(\d{1,2} [A-Z][a-z]+(?: \d{4})?):$")
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = rf"\d{{1,2}} {_MONTH}(?: \d{{4}})?"
_MEANT = rf"(?:on (?:\d{{1,2}} to |{_DATE} to )?{_DATE}|in the week of {_DATE}|in (?:{_MONTH} )?\d{{4}}|in {_MONTH})"
"""When "tomorrow" and the like were, as a line says it."""

_NOTE = re.compile(
    rf"\s*\((?:[🟢🟡🔴]|high|medium|low)?(?:(?:, |(?<=\())(until )?({_DATE}))?(?:(?:, |(?<=\()){_MEANT})*\)$"
)
_NAME = re.compile(r"^Call them (.+?)\.(?: Their name is .*)?$", re.MULTILINE)
_SPEAKER = re.compile(r"^[A-Z][\w ]{0,30}: ")
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|mine|me|we|our|us)\b", re.IGNORECASE)


class Responder(FrameProcessor):
    """Stands where a language model would.

    Answers every context it is given at once; leaves guesses at unfinished turns alone.
    """

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answers contexts, passes everything else on."""
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
        elif not frame.speculation and (reply := reply_to(frame.context)):
            await self.push_frame(LLMFullResponseStartFrame())
            await self.push_frame(LLMTextFrame(reply))
            await self.push_frame(LLMFullResponseEndFrame())


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a block.

    Attributes:
        text: Its words, without the note at its end.
        date: The date it holds or stands under, if any.
        ended: Whether it is no longer true.
    """

    text: str
    date: date | None
    ended: bool


def reply_to(context: LLMContext) -> str:
    """The answer to the latest user message.

    Where there is none, a greeting by name, or "" if no name is known.
    """
    messages = [
        message for message in context.get_messages() if not isinstance(message, LLMSpecificMessage)
    ]
    asked = [
        index
        for index, message in enumerate(messages)
        if message["role"] == "user" and not is_block(message)
    ]
    name = named(messages)
    if not asked:
        return greeting(name) if name else ""
    question = standard_message_text(messages[asked[-1]])
    before = messages[asked[-1] - 1] if asked[-1] else None
    block = standard_message_text(before) if before is not None and is_block(before) else ""
    if notice := noticed(block):
        return notice
    if not is_question(question):
        return acknowledgement(question, name)
    said = (
        collapse_spaces(standard_message_text(messages[index])) for index in reversed(asked[:-1])
    )
    conversation = tuple(
        Statement(text, None, ended=False) for text in said if not is_question(text)
    )
    return answer(question, statements(block)) or answer(question, conversation) or UNKNOWN


def greeting(name: str) -> str:
    """A greeting, by name if there is one."""
    return GREETING.replace("Hello", f"Hello {name}") if name else GREETING


def named(messages: Sequence[LLMStandardMessage]) -> str:
    """The name that the memory says to call the user by; "" if it says none."""
    blocks = (standard_message_text(message) for message in messages if is_block(message))
    return next((match[1] for block in blocks if (match := _NAME.search(block))), "")


def is_block(message: LLMStandardMessage) -> bool:
    """Whether a message is what the memory tells, in whatever role."""
    return message["role"] in ("user", "developer") and standard_message_text(message).startswith(
        OPENING
    )


def noticed(block: str) -> str:
    """What is said of what the user asked of the memory itself.

    "" if the block tells of no such thing.
    """
    told, *listed = block.removeprefix(OPENING).removesuffix(CLOSING).strip().splitlines() or [""]
    say = next((said for begins, said in NOTICES.items() if told.startswith(begins)), None)
    if say is None:
        return ""
    forgotten = _FORGET.match(told)
    what = (
        forgotten[1].replace("they said", "you said").replace("of them", "of you")
        if forgotten
        else "it"
    )
    return " ".join(
        (say.format(what=what), *(_NOTE.sub("", line).removeprefix("- ") for line in listed))
    )


def is_question(utterance: str) -> bool:
    """Whether the utterance asks something; recognisers often leave the question mark out."""
    return utterance.rstrip().endswith("?") or _ASKS.match(utterance.lstrip()) is not None


def acknowledgement(utterance: str, name: str = "") -> str:
    """What is said to an utterance that asks nothing, by the user's name where they greet."""
    words = _WORD.findall(utterance.lower())
    if words and words[0] in ("no", "actually", "sorry"):
        return CORRECTED
    greets = (
        bool(words) and words[0] in ("hello", "hi", "hey") and not _FIRST_PERSON.search(utterance)
    )
    return greeting(name) if greets else NOTED


def statements(block: str) -> tuple[Statement, ...]:
    """The lines of a block that state something, in its order.

    Questions that were asked earlier answer nothing and are left out.
    """
    found, heading = [], None
    written = _YEAR.search(block)
    year = int(written[1]) if written else date.today().year
    for line in map(str.strip, block.splitlines()):
        if dated := _HEADING.match(line):
            heading = _date(dated[1], year)
        elif line.endswith(":"):
            heading = None
        elif line.startswith("- "):
            note = _NOTE.search(line)
            text = _NOTE.sub("", line).removeprefix("- ")
            own = _date(note[2], year) if note and note[2] else heading
            if not is_question(_SPEAKER.sub("", text)):
                found.append(Statement(text, own, ended=bool(note and note[1])))
    return tuple(found)


def _date(text: str, year: int) -> date | None:
    """A day as the block writes it, "4 March" or "4 March 2025"; None if it is none."""
    try:
        found: datetime = parser.parse(text, default=datetime(year, 1, 1))
        return found.date()
    except ValueError:
        return None


def answer(question: str, known: tuple[Statement, ...]) -> str:
    """The statement that holds most of the question's content words, said back.

    "" if none holds enough of them.

    Among equals what still holds comes before what has ended, then the later before the earlier,
    then the block's order.
    """
    wanted = content_words(question)

    def fit(statement: Statement) -> tuple[float, bool, date]:
        share = len(wanted & content_words(statement.text)) / len(wanted) if wanted else 1.0
        return share, not statement.ended, statement.date or date.min

    best = max(known, key=fit, default=None)
    if best is None or fit(best)[0] < LEAST_SHARED:
        return ""
    words = _SPEAKER.sub("", best.text)
    if not _FIRST_PERSON.search(words):
        return words
    asks_when = "when" in _WORD.findall(question.lower())
    told = f"On {best.date.day} {best.date:%B} you said" if asks_when and best.date else "You said"
    return f'{told}: "{words}"'


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, without their commonest endings."""
    words = (word.removesuffix("'s") for word in _WORD.findall(text.lower()))
    return frozenset(
        _ENDING.sub("", word) if len(word) > 3 else word for word in words if word not in STOP_WORDS
    )
