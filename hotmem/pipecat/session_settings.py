"""Settings of one conversation, from arguments, the memory's options and the environment."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from hotmem.core.location import ServerUrl
from hotmem.core.validation import validate_number, validate_type
from hotmem.errors import InvalidInput, StoreUnreachable
from hotmem.memory import Memory
from hotmem.models import Encoder
from hotmem.options import MIN_TOKENS, Options
from hotmem.settings import Settings
from hotmem.text.validation import validate_id, validate_name
from hotmem.understanding.turn_retention import TurnRetention

MEMORY_SHARE: Final = 0.95
"""Share of the deadline that the memory gets, so that a partial block still arrives in time."""

UNNAMED: Final = "somebody else"
"""The name of a speaker without a name who is not the user."""

STRANGER: Final = "?"
"""Who asks without a name: what another nameless speaker said once is not theirs."""

LONG_DEADLINE_MS: Final = 2000.0
"""Deadline of a recall that no frame waits for, in milliseconds."""


class Guests(StrEnum):
    """What the questions of other speakers than the user get from the user's memory.

    NONE: nothing. SHARED: what was said in this conversation, and what they said themselves. ALL:
    what the user would get. None of them ever gets a secret.
    """

    NONE = "none"
    SHARED = "shared"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of one conversation.

    Attributes:
        user_id: The user.
        session_id: The conversation.
        deadline_ms: Maximum time a context frame waits for its block, in milliseconds; 0 takes
            only what is ready.
        max_tokens: Maximum number of tokens of a block; None for the memory's option.
        clock: The current time, in the user's time zone.
        opening_tokens: Maximum number of tokens of the opening block; None for the memory's
            option, 0 for no opening block.
        user_name: The user's name.
        bot_name: The bot's name.
        speakers: Names by the transport's ids of the speakers.
        guests: What the questions of other speakers get.
        heard: Ids of speakers without a name that were heard.

    Raises:
        InvalidInput: If a value is not valid.
    """

    user_id: str
    session_id: str
    deadline_ms: float
    max_tokens: int | None
    clock: Callable[[], datetime]
    opening_tokens: int | None = None
    user_name: str | None = None
    bot_name: str | None = None
    speakers: Mapping[str, str] = field(default_factory=dict)
    guests: Guests = Guests.SHARED
    heard: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        validate_id(self.user_id, "user_id")
        validate_id(self.session_id, "session_id")
        for name, least in (("max_tokens", MIN_TOKENS), ("opening_tokens", 0)):
            if getattr(self, name) is not None:
                validate_number(getattr(self, name), name, least, whole=True)
        for name in ("user_name", "bot_name"):
            if getattr(self, name) is not None:
                validate_name(getattr(self, name), name)
        fix = 'Pass the names by the ids of the transport, such as {"participant-1": "Ana"}.'
        validate_type(self.speakers, Mapping, "speakers", fix)
        for speaker in self.speakers.values():
            validate_name(speaker, "A name in speakers")
        if not callable(self.clock):
            raise InvalidInput("clock is no function. Pass a function that returns the time.")

    def heard_as(self, guest: str) -> str:
        """Who another speaker counts as when they ask, for `Memory.recall`."""
        if self.guests is Guests.ALL:
            return ""
        return STRANGER if guest == UNNAMED else guest

    @property
    def in_room(self) -> bool:
        """Whether others than the user may be speaking."""
        return len(self.heard) > 1 or any(one != self.user_name for one in self.speakers.values())

    @property
    def recall_ms(self) -> float:
        """Deadline of a recall that a context frame waits for, in milliseconds."""
        return self.deadline_ms * MEMORY_SHARE or LONG_DEADLINE_MS

    def is_guest(self, speaker: str | None) -> bool:
        """Whether a speaker is not known to be the user.

        Of the speakers without a name, the only one is the user unless another is named so; of
        several, nobody is.
        """
        if speaker is None:
            return False
        if speaker in self.speakers:
            return self.speakers[speaker] != self.user_name
        if self.user_name in self.speakers.values():
            return True
        self.heard.add(speaker)
        return len(self.heard) > 1

    def user_speaker_name(self, speaker: str | None) -> str | None:
        """The name of the speaker of a user turn."""
        guest = self.is_guest(speaker)
        return self.speakers.get(speaker or "", UNNAMED) if guest else self.user_name


def resolve_deadline_ms(given: float | None, options: Options) -> float:
    """The recall deadline: the argument, else the memory's option, else the environment's.

    Raises:
        InvalidInput: If the argument or the variable is invalid.
    """
    if given is not None:
        return validate_number(given, "deadline_ms", 0.0)
    if options.recall.deadline_ms is not None:
        return options.recall.deadline_ms
    return Settings.from_environment().recall_deadline_ms


RETRY_S: Final = 2.0
"""Seconds between two attempts to reach a server."""


class MemoryHandle:
    """The memory of a processor, which is absent before the pipeline starts and after it ends.

    Args:
        memory: An open memory, which the caller closes, or the path or URL of one; None for the
            default.
        options: Options of a memory given by path; None for those of the environment.

    Attributes:
        memory: The memory, open or not.
        owned: Whether the processor opens and closes it.
        current: The memory while it is in use; None before it is open, if it could not be opened,
            and after `release`.
        retrying: Whether it could not be reached and opening is tried again.
    """

    def __init__(
        self, memory: Memory | str | Path | ServerUrl | None, options: Options | None = None
    ) -> None:
        self.current: Memory | None = None
        self.retrying = False
        if isinstance(memory, Memory):
            self.memory = self.current = memory
            self.owned = False
        else:
            self.memory = Memory(memory, options)
            self.owned = True

    @property
    def encoder(self) -> Encoder | None:
        """The encoder of the memory; None while it is not in use."""
        return None if self.current is None else self.current.runtime.recall.encoder

    async def open(self) -> None:
        """Open a memory given by path."""
        if self.owned:
            await self.memory.start()
            self.current = self.memory

    async def retry(self) -> None:
        """Open a memory whose server could not be reached, once it can.

        Raises:
            HotMemError: If it was reached and cannot be used.
        """
        self.retrying = True
        try:
            while self.current is None:
                await asyncio.sleep(RETRY_S)
                with suppress(StoreUnreachable):
                    await self.open()
        finally:
            self.retrying = False

    def is_blocked(self) -> bool:
        """Whether a write waits for another program's lock."""
        return self.current is not None and self.current.runtime.blocked() is not None

    def release(self) -> None:
        """Start no further work on the memory."""
        self.current = None


T = TypeVar("T")

ReportFailure: TypeAlias = Callable[[str, Exception], Awaitable[None]]
"""Reports the stage of a failure and its exception; does not raise."""

EmitEvent: TypeAlias = Callable[..., Awaitable[None]]
"""Calls the handlers of an event, given its name and arguments."""


class CreateTask(Protocol):
    """Creates a named task that the pipeline manages."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], name: str, /) -> asyncio.Task[T]:
        """Create the task."""
        ...


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the parts of a processor share.

    Attributes:
        handle: The memory.
        settings: The settings of the conversation.
        retention: The user's turns, and which of them are stored.
        create_task: Creates tasks.
        report_failure: Reports failures.
    """

    handle: MemoryHandle
    settings: SessionSettings
    retention: TurnRetention
    create_task: CreateTask
    report_failure: ReportFailure


class ConversationPart:
    """A part of a processor.

    Args:
        conversation: The conversation.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._handle = conversation.handle
        self._settings = conversation.settings
        self._retention = conversation.retention
        self._create_task = conversation.create_task
        self._report_failure = conversation.report_failure
