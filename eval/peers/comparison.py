"""Ingest every conversation into HotMem and each peer, ask all the same questions, and score.

The systems ingest a conversation one after another. Each question is then put to every system in
turn, so that other load on the machine affects all of them equally.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from rich.progress import Progress

from eval.arguments import working_folder
from eval.baselines import Block, fill_block, indexed_text
from eval.datasets import Conversation, Question
from eval.encoder.published import published_folder
from eval.evidence import score
from eval.peers import Peer
from eval.peers.child import Said
from eval.peers.measures import BUDGETS, Asked, Measured, any_first, in_order
from eval.peers.process import Running, running
from eval.rows import HOTMEM
from eval.run import SESSION, Models, models, remember_all
from eval.timing import timed
from hotmem import Memory
from hotmem.models import TokenCounter
from hotmem.types import ContextBlock, Turn

DEPTH: Final = 100
"""Turns requested from a peer, more than fit in a block."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A running peer and its results so far."""

    running: Running
    measured: Measured


def compare(
    conversations: Sequence[Conversation],
    peers: Iterable[Peer],
    environments: Path,
    progress: Progress,
) -> list[Measured]:
    """Measures HotMem and the peers.

    Args:
        conversations: What is ingested, and the questions; at least one of each.
        peers: Who is measured beside HotMem.
        environments: The folder that `make peers` filled.
        progress: Gets a bar for the sessions and one for the questions.

    Returns:
        HotMem's measures, then those of the peers in their order.

    Raises:
        PeerMissing: If a peer has no environment.
        PeerFailed: If a peer's process ends early.
        ModelMissing: If a model is not installed.
    """
    with working_folder(None) as cache, ExitStack() as stack:
        loaded, weights = models(cache), published_folder()
        contenders = [
            _contender(stack.enter_context(running(peer, environments, weights)), conversations[0])
            for peer in peers
        ]
        hotmem = Measured(HOTMEM, "defaults; makes its own block, which is timed too")
        sessions = progress.add_task(
            "sessions", total=sum(len(conversation.sessions) for conversation in conversations)
        )
        questions = progress.add_task(
            "questions", total=sum(len(conversation.questions) for conversation in conversations)
        )
        for conversation in conversations:
            asyncio.run(
                _measure(
                    conversation, loaded, hotmem, contenders, lambda: progress.advance(questions)
                )
            )
            progress.advance(sessions, len(conversation.sessions))
    return [hotmem, *(contender.measured for contender in contenders)]


def said(turn: Turn) -> Said:
    """Return a turn as it is given to a peer."""
    return Said(turn.id, indexed_text(turn), turn.role, f"{turn.spoken_at:%Y-%m-%d}")


def block_of(ids: Sequence[str], turns: Sequence[Turn], budget: int, tokens: TokenCounter) -> Block:
    """Return the baselines' block of turns that a peer ranked."""
    rank = {turn_id: float(-place) for place, turn_id in enumerate(ids)}
    return fill_block(
        turns, np.array([rank.get(turn.id, -np.inf) for turn in turns]), budget, tokens.count
    )


def _contender(peer: Running, conversation: Conversation) -> Contender:
    """Start a peer; a first turn and question trigger its lazy loading."""
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-", ignore_cleanup_errors=True) as folder:
        note = peer.open(Path(folder))
        peer.add([said(conversation.turns[0])])
        peer.search(
            conversation.turns[0].text, f"{conversation.turns[0].spoken_at:%Y-%m-%d}", DEPTH
        )
    return Contender(peer, Measured(peer.peer.name, f"{peer.peer.version}; {note}"))


async def _measure(
    conversation: Conversation,
    loaded: Models,
    hotmem: Measured,
    contenders: Sequence[Contender],
    advance: Callable[[], None],
) -> None:
    """Measure one conversation: all systems ingest it, then each question is put to all.

    HotMem's ingestion includes its background work.
    """
    async with AsyncExitStack() as stack:
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="hotmem-eval-", ignore_cleanup_errors=True)
            )
        )
        memory = await stack.enter_async_context(
            Memory.open(folder / "memory.db", encoder=loaded.encoder, language=loaded.language)
        )
        started = time.perf_counter()
        await remember_all(memory, conversation)
        await memory.settle()
        hotmem.ingest_ms += 1000 * (time.perf_counter() - started)
        hotmem.turns += len(conversation.turns)
        for place, contender in enumerate(contenders):
            await asyncio.to_thread(_ingest_peer, contender, conversation, folder / str(place))
        for question in conversation.questions:
            hotmem.asked.append(await _ask(memory, conversation, question))
            for contender in contenders:
                contender.measured.asked.append(
                    await asyncio.to_thread(
                        _ask_peer, contender.running, conversation, question, loaded.tokens
                    )
                )
            advance()


def _ingest_peer(contender: Contender, conversation: Conversation, folder: Path) -> None:
    """Ingest a conversation into an empty store of a peer."""
    folder.mkdir()
    contender.running.open(folder)
    for session in conversation.sessions:
        contender.measured.ingest_ms += contender.running.add(
            [said(turn) for turn in session.turns]
        )
    contender.measured.turns += len(conversation.turns)


async def _ask(memory: Memory, conversation: Conversation, question: Question) -> Asked:
    """Return HotMem's result for a question, with its own blocks."""
    blocks: dict[int, ContextBlock] = {}
    times: list[float] = []
    for budget in BUDGETS:
        with timed(times):
            blocks[budget] = await memory.recall(
                question.text,
                user_id=conversation.user,
                session_id=SESSION,
                at=question.asked_at,
                max_tokens=budget,
            )
    delivered = {
        budget: score(question, conversation, block.text, block.items).delivered
        for budget, block in blocks.items()
    }
    first = any_first(question, in_order(blocks[BUDGETS[0]].items))
    return Asked(delivered, first, times[0])


def _ask_peer(
    peer: Running, conversation: Conversation, question: Question, tokens: TokenCounter
) -> Asked:
    """Return a peer's result for a question, with its turns packed as those of the baselines."""
    ids, ms = peer.search(question.text, f"{question.asked_at:%Y-%m-%d}", DEPTH)
    blocks = {budget: block_of(ids, conversation.turns, budget, tokens) for budget in BUDGETS}
    delivered = {
        budget: score(question, conversation, block.text, block.lines).delivered
        for budget, block in blocks.items()
    }
    return Asked(delivered, any_first(question, ids), ms)
