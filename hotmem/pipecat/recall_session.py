"""Recalls of one conversation: prefetched, awaited within the deadline, completed afterwards."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Final

from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage

from hotmem.memory import Memory
from hotmem.pipecat.context import (
    UserMessage,
    collapse_spaces,
    insert_messages,
    latest_user_message,
    visible_besides,
    visible_texts,
)
from hotmem.pipecat.session_settings import (
    LONG_DEADLINE_MS,
    UNNAMED,
    Conversation,
    ConversationPart,
    Guests,
)
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.telemetry import log_deadline_missed
from hotmem.pipecat.transcript import SpeakerSegment, speech_key
from hotmem.pipecat.turn_state import (
    Prefetch,
    RecallTask,
    RecallTiming,
    TurnState,
    Utterance,
    find_replied_turn,
    now_ms,
)
from hotmem.pipecat.voice_commands import CommandRequest, VoiceCommands
from hotmem.types import ContextBlock, Item

BEFORE_ANY_REPLY: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RecallResult:
    """A block that was ready in time, and its timing."""

    block: ContextBlock
    timing: RecallTiming


class RecallSession(ConversationPart):
    """Recalls of one conversation.

    Args:
        conversation: The conversation.
        commands: Voice commands.
        session_start: The opening block.
        drain_writes: Waits until every write so far is done, before a command deletes.

    Attributes:
        deadlines_missed: Number of turns whose block was late or incomplete.
        realtime: Whether the service is speech to speech: no frame waits for a block, and a reply
            may begin before the transcript of its user turn comes.
    """

    def __init__(
        self,
        conversation: Conversation,
        commands: VoiceCommands,
        session_start: SessionStart,
        drain_writes: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(conversation)
        self.deadlines_missed = 0
        self.realtime = False
        self._commands = commands
        self._session_start = session_start
        self._drain_writes = drain_writes
        self._prefetch = Prefetch()
        self._turns: deque[TurnState] = deque(maxlen=2)
        self._ended_turns = 0
        self._guest: str | None = None
        self._context: LLMContext | None = None

    def prefetch(self, transcript: str, *, paused: bool, final: bool) -> None:
        """Schedule a recall for the transcript of the turn so far.

        Args:
            transcript: The transcript.
            paused: Whether the user has paused; otherwise the recall waits for more words.
            final: Whether the context frame may come at any moment, so that an incomplete block in
                time is better than a complete one too late.
        """
        memory = self._handle.current
        if memory is None or (memory.runtime.options.rewriting.model and not paused):
            return  # a rewriting model may be remote, and is not called with half a sentence
        request = Utterance(
            collapse_spaces(transcript),
            () if self._context is None else visible_texts(self._context),
            self._ended_turns + 1,
        )
        deadline_ms = self._recall_ms if final else LONG_DEADLINE_MS
        self._prefetch.schedule(
            request,
            lambda: self._create_task(self._recall(memory, request, deadline_ms), "hotmem-search"),
            immediately=paused,
        )

    async def end_turn(self, text: str, segments: Sequence[SpeakerSegment] = ()) -> tuple[str, ...]:
        """Record that a user turn has ended; the same text after it is another turn.

        The voice command of a speculative turn is executed now.

        Args:
            text: The text of the turn.
            segments: The same, by speaker.

        Returns:
            Ids of stored turns to remove.
        """
        self._ended_turns += 1
        guests = [one.speaker for one in segments if self._settings.is_guest(one.speaker)]
        self._guest = self._settings.user_speaker_name(guests[-1]) if guests else None
        own, others = (
            " ".join(
                collapse_spaces(segment.text)
                for segment in segments
                if self._settings.is_guest(segment.speaker) is by_guest
            )
            for by_guest in (False, True)
        )
        number, text = self._ended_turns, collapse_spaces(text)
        await self._retention.find.prepare(text, own, others)
        said, at = own if segments else None, self._settings.clock()
        removed = self._retention.end_turn(number, text, others, own=said, at=at)
        turn = self.latest_turn
        if (
            turn is not None
            and turn.speculative
            and speech_key(turn.request.text) == speech_key(text)
        ):
            turn.speculative = False
            memory = self._handle.current
            if memory is not None and self._commands.handles(text):
                turn.follow_up = self._create_task(
                    self._execute_command(memory, turn.request, self._delivered_items()),
                    "hotmem-command",
                )
        return removed

    def interrupt(self) -> None:
        """Record that the user has interrupted the reply."""
        if self._turns:
            self._turns[-1].interrupted = True

    def start_tool_call(self) -> None:
        """Record that the model has called a tool; the reply continues after its result."""
        if self._turns:
            self._turns[-1].prompted_at = None

    async def turn_of(self, context: LLMContext, *, speculative: bool) -> TurnState | None:
        """The turn of a context: the current one after a tool call or a confirmed speculation.

        Otherwise a new turn, whose recall starts here. None without a user message or a memory.
        """
        if not speculative:
            self._context = context
        message = latest_user_message(context, self._ended_turns + speculative)
        memory = self._handle.current
        if message is None or memory is None:
            return None
        await self._retention.find.prepare(message.text)
        if not self._turns or self._turns[-1].message != message:
            guest = UNNAMED if speculative and self._settings.in_room else self._guest
            seen = visible_besides(context, message)
            request = Utterance(message.text, seen, message.turn, guest)
            self._append(self._start_turn(memory, message, request, speculative=speculative))
        else:
            self.resume_reply()
        return self._turns[-1]

    async def turn_of_transcript(self, text: str) -> TurnState | None:
        """The turn of a transcript that is in no context yet, and that may go on."""
        context = self._context or LLMContext()
        message: LLMContextMessage = {"role": "user", "content": text}
        return await self.turn_of(
            insert_messages(context, len(context.get_messages()), message), speculative=True
        )

    def resume_reply(self) -> None:
        """Record that the language model has got the result of a tool call."""
        if self._turns and self._turns[-1].prompted_at is None:
            self._turns[-1].prompted_at = now_ms()

    @property
    def latest_turn(self) -> TurnState | None:
        """The latest turn, which may go on."""
        return self._turns[-1] if self._turns else None

    def replied_turn(self, timestamp: str) -> TurnState | None:
        """The turn that a reply belongs to.

        Args:
            timestamp: When the reply began, ISO 8601.
        """
        return find_replied_turn(self._turns, timestamp)

    async def wait(self, turn: TurnState) -> RecallResult | None:
        """The block of a turn, as complete as it is by the deadline; None without one.

        A late block is kept for the next turn.
        """
        arrived_at = perf_counter()
        if not turn.recall.done():
            await asyncio.wait({turn.recall}, timeout=self._timeout_s(turn))
        own = turn.block
        if not turn.recall.done() or (own and own.trace.late and turn.follow_up is None):
            self._complete_later(turn)
        if own is None:
            return None
        timing = turn.timing(arrived_at, (perf_counter() - arrived_at) * 1000)
        if not own.text and own.trace.analysis is not None and not own.trace.analysis.needs_memory:
            late = self._late_block()
            if late is not None:
                return RecallResult(late, replace(timing, stages_ms={}))
        return RecallResult(own, timing)

    def add_delivered(self, turn: TurnState, block: ContextBlock) -> bool:
        """Record that the language model was given the block of a turn.

        Returns:
            Whether it was not given before.
        """
        is_new = turn.delivered is not block
        turn.delivered, turn.interrupted = block, False
        self._commands.add_delivered(block)
        return is_new

    def stop_prefetch(self) -> None:
        """Cancel the prefetch."""
        self._prefetch.stop()

    async def close(self) -> None:
        """Cancel all recalls."""
        self._prefetch.stop()
        recalls = [recall for turn in self._turns for recall in turn.recalls]
        for recall in recalls:
            recall.cancel()
        await asyncio.gather(*recalls, return_exceptions=True)

    @property
    def _recall_ms(self) -> float:
        """Deadline of a recall, in milliseconds."""
        return LONG_DEADLINE_MS if self.realtime else self._settings.recall_ms

    def _timeout_s(self, turn: TurnState) -> float:
        """Seconds to wait for a block; longer for a voice command, whose question must be asked."""
        deadline_ms = self._settings.deadline_ms
        if deadline_ms and turn.is_command:
            deadline_ms = max(deadline_ms, LONG_DEADLINE_MS)
        return deadline_ms / 1000

    def _append(self, turn: TurnState) -> None:
        """Add a turn, in place of a speculative one that was withdrawn or else of the oldest."""
        if self._turns and self._turns[-1].speculative:
            _cancel(self._turns.pop())
        elif len(self._turns) == self._turns.maxlen:
            _cancel(self._turns.popleft())
        self._turns.append(turn)

    def _start_turn(
        self, memory: Memory, message: UserMessage, request: Utterance, *, speculative: bool
    ) -> TurnState:
        """Start the recall of a turn, or take over the prefetched one."""
        prefetched = self._prefetch.take(request)
        task = None if prefetched is None else prefetched.task
        is_command = self._commands.handles(request.text)
        done = task.result() if task is not None and task.done() else None
        block = memory.runtime.suppression.current(done)
        recall: RecallTask
        if block is None or (not speculative and is_command):
            recall = self._create_task(
                self._answer(memory, request, task, speculative=speculative), "hotmem-recall"
            )
        else:
            recall = asyncio.get_running_loop().create_future()
            recall.set_result(self._as_answer(block, request))
        turn = TurnState(
            message,
            request,
            recall,
            perf_counter() if prefetched is None else prefetched.started_at,
            speculative,
            task,
            is_command=is_command,
        )
        if self.realtime:
            turn.asked_at = turn.prompted_at = BEFORE_ANY_REPLY
        return turn

    async def _answer(
        self,
        memory: Memory,
        request: Utterance,
        prefetched: RecallTask | None,
        *,
        speculative: bool,
    ) -> ContextBlock | None:
        """Execute a voice command; for any other utterance, recall."""
        if not speculative:
            outcome = await self._execute_command(memory, request, self._delivered_items())
            if outcome is not None:
                return outcome
        block = None if prefetched is None else await asyncio.shield(prefetched)
        block = memory.runtime.suppression.current(block)
        if block is None:
            return await self._recall(memory, request, self._recall_ms)
        return self._as_answer(block, request)

    def _as_answer(self, block: ContextBlock, request: Utterance) -> ContextBlock:
        """A prefetched block, with the final transcript as its query."""
        return replace(block, query=request.text, at=self._settings.clock())

    async def _execute_command(
        self, memory: Memory, request: Utterance, items: Sequence[Item]
    ) -> ContextBlock | None:
        try:
            if self._commands.handles(request.text):
                await self._drain_writes()
            max_tokens = self._settings.max_tokens or memory.runtime.options.recall.max_tokens
            return await self._commands.execute(
                CommandRequest(memory, request.text, self._settings.clock(), items, max_tokens)
            )
        except Exception as error:  # the turn continues without a block
            await self._report_failure("command", error)
            return None

    async def _recall(
        self, memory: Memory, request: Utterance, deadline_ms: float
    ) -> ContextBlock | None:
        settings = self._settings
        if request.guest is not None and settings.guests is Guests.NONE:
            return None
        try:
            return await memory.recall(
                request.text,
                user_id=settings.user_id,
                session_id=settings.session_id,
                at=settings.clock(),
                max_tokens=settings.max_tokens,
                deadline_ms=deadline_ms,
                visible=(*request.visible, request.text),
                asked_by=request.guest and settings.heard_as(request.guest),
            )
        except Exception as error:  # the turn continues without a block
            await self._report_failure("recall", error)
            return None

    def _delivered_items(self) -> Sequence[Item]:
        """Items of the block that the language model was given last."""
        blocks = (turn.delivered for turn in reversed(self._turns))
        delivered = next((block for block in blocks if block), None)
        return self._session_start.delivered_items if delivered is None else delivered.items

    def _complete_later(self, turn: TurnState) -> None:
        """Count a missed deadline, and recall again with a long one if the block is incomplete."""
        self.deadlines_missed += 1
        log_deadline_missed(self._settings.session_id, self._settings.deadline_ms)
        memory = self._handle.current
        if memory is not None and turn.follow_up is None:
            turn.follow_up = self._create_task(self._completed(memory, turn), "hotmem-search")

    async def _completed(self, memory: Memory, turn: TurnState) -> ContextBlock | None:
        await asyncio.wait({turn.recall})
        block = turn.recall.result()
        if block is None or not block.trace.late:
            return block
        return await self._recall(memory, turn.request, LONG_DEADLINE_MS)

    def _late_block(self) -> ContextBlock | None:
        """The late block of the previous turn, for a turn that needs no memory itself."""
        memory, turns = self._handle.current, [*self._turns]
        if memory is None or len(turns) < 2 or turns[0].request.guest != turns[1].request.guest:
            return None
        return memory.runtime.suppression.current(turns[0].late_block)


def _cancel(turn: TurnState) -> None:
    for recall in turn.recalls:
        recall.cancel()
