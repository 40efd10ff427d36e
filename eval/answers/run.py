"""One run: make the contexts, have the model answer from each, and have the judge score it."""

import asyncio
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from eval.answers.contexts import Context, ContextTask, System, make_contexts
from eval.answers.prompts import (
    ANSWER_TOKENS,
    VERDICT_TOKENS,
    Messages,
    answer_messages,
    judge_messages,
    points,
    read_verdict,
)
from eval.answers.rows import AnswerRow, RowFile
from eval.datasets import Conversation
from eval.output import progress_bars
from hotmem.errors import HotMemError
from hotmem.models import TokenCounter
from hotmem.models.chat_endpoint import ChatAnswer, ChatEndpoint, EndpointFailed

PAUSES_S: Final = (1.0, 4.0, 15.0)
"""Seconds before each further attempt of a call."""

MAX_FAILURES: Final = 5
"""Calls that may fail one after another, with all their attempts, before the run stops."""


class RunStopped(HotMemError):
    """The endpoint does not answer; the rows so far are kept."""


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """What a run does.

    Attributes:
        conversations: The conversations.
        systems: The systems.
        budget: Maximum tokens of a block.
        full_tokens: Maximum tokens of the whole history.
        jobs: Number of processes that make contexts.
        concurrency: Calls at the same time.
        cache: Folder of the disk cache.
    """

    conversations: Sequence[Conversation]
    systems: Sequence[System]
    budget: int
    full_tokens: int
    jobs: int
    concurrency: int
    cache: Path


class Answering:
    """Answers and judges contexts.

    Args:
        model: Answers.
        judge: Judges.
        file: Gets the rows.
        run: The run, for its rows.
        tokens: Counts tokens that an endpoint does not state.
        concurrency: Calls at the same time.
    """

    def __init__(
        self,
        model: ChatEndpoint,
        judge: ChatEndpoint,
        file: RowFile,
        run: str,
        *,
        tokens: TokenCounter,
        concurrency: int,
    ) -> None:
        self._model = model
        self._judge = judge
        self._file = file
        self._run = run
        self._tokens = tokens
        self._free = asyncio.Semaphore(concurrency)
        self._failures = 0

    async def answer(self, context: Context) -> None:
        """Add the row of a context.

        Raises:
            RunStopped: If it makes no sense to go on.
        """
        async with self._free:
            row = self._begun(context)
            try:
                if not row.answer:
                    row = await self._answered(row, context)
                row = await self._judged(row, context)
                self._failures = 0
            except EndpointFailed as error:
                failure = f"judge: {error.reason}" if row.answer else error.reason
                self._file.add(replace(row, failure=failure))
                self._count_failure(error, failure)
                return
            self._file.add(row)

    def _count_failure(self, error: EndpointFailed, failure: str) -> None:
        self._failures += 1
        if error.lasting or self._failures >= MAX_FAILURES:
            raise RunStopped(
                f"The endpoint fails ({failure}). Check its URL, key and model, then run the"
                " command again; with --rows it goes on where it stopped."
            )

    def _begun(self, context: Context) -> AnswerRow:
        """The row so far; an answer that has no score yet is not asked for again."""
        question = context.question
        row = AnswerRow(
            run=self._run,
            conversation=context.user,
            question=question.id,
            category=question.category,
            abstain=question.abstain,
            system=context.system,
            context_tokens=context.tokens,
            context_ms=round(context.ms, 3),
            cut=context.cut,
        )
        earlier = self._file.rows.get(row.key)
        return row if earlier is None or not earlier.answer else replace(earlier, failure="")

    async def _answered(self, row: AnswerRow, context: Context) -> AnswerRow:
        messages = answer_messages(context.question, context.text)
        found, ms = await _ask(self._model, messages, ANSWER_TOKENS)
        prompt, completion = self._counts(messages, found)
        if not found.text.strip():
            raise EndpointFailed("empty answer")
        return replace(
            row,
            answer=found.text.strip(),
            answer_ms=round(ms, 1),
            prompt_tokens=prompt,
            completion_tokens=completion,
            counted=found.prompt_tokens is None or found.completion_tokens is None,
        )

    async def _judged(self, row: AnswerRow, context: Context) -> AnswerRow:
        messages = judge_messages(context.question, row.answer)
        found, _ = await _ask(self._judge, messages, VERDICT_TOKENS)
        prompt, completion = self._counts(messages, found)
        score = read_verdict(found.text, len(points(context.question)))
        return replace(
            row,
            score=score,
            judge_prompt_tokens=row.judge_prompt_tokens + prompt,
            judge_completion_tokens=row.judge_completion_tokens + completion,
            failure="" if score is not None else "judge: not a verdict",
        )

    def _counts(self, messages: Messages, found: ChatAnswer) -> tuple[int, int]:
        """Tokens of prompt and answer, as the endpoint states them or else by our count."""
        count = self._tokens.count
        prompt, completion = found.prompt_tokens, found.completion_tokens
        return (
            sum(count(one["content"]) for one in messages) if prompt is None else prompt,
            count(found.text) if completion is None else completion,
        )


async def _ask(
    endpoint: ChatEndpoint, messages: Messages, max_tokens: int
) -> tuple[ChatAnswer, float]:
    """The answer, and the milliseconds of the attempt that succeeded.

    Raises:
        EndpointFailed: If no attempt did.
    """
    pauses_s = iter(PAUSES_S)
    while True:
        started = time.perf_counter()
        try:
            found = await endpoint.complete(messages, max_tokens)
        except EndpointFailed as error:
            pause_s = next(pauses_s, None)
            if error.lasting or pause_s is None:
                raise
            await asyncio.sleep(pause_s)
        else:
            return found, 1000 * (time.perf_counter() - started)


async def run_answers(task: AnswerTask, answering: Answering, file: RowFile) -> None:
    """Answer every question that has no score yet, and show the progress.

    Raises:
        RunStopped: If it makes no sense to go on.
    """
    wanted = [_wanted(one, task.systems, file) for one in task.conversations]
    total = sum(len(names) for one in wanted for names in one.values())
    work = [
        ContextTask(conversation, names, task.budget, task.full_tokens, task.cache)
        for conversation, names in zip(task.conversations, wanted, strict=True)
        if any(names.values())
    ]
    with (
        ProcessPoolExecutor(task.jobs, mp_context=multiprocessing.get_context("spawn")) as pool,
        progress_bars() as progress,
    ):
        bar = progress.add_task("answers", total=total)

        async def answer(context: Context) -> None:
            await answering.answer(context)
            progress.advance(bar)

        left = iter(work)
        ahead = [
            asyncio.create_task(asyncio.to_thread(_contexts, pool, one))
            for one in islice(left, task.jobs + 1)
        ]
        try:
            while ahead:
                contexts = await ahead.pop(0)
                if (one := next(left, None)) is not None:
                    ahead.append(asyncio.create_task(asyncio.to_thread(_contexts, pool, one)))
                async with asyncio.TaskGroup() as group:
                    for context in contexts:
                        group.create_task(answer(context))
        except* RunStopped as stopped:
            raise stopped.exceptions[0] from None
        finally:
            for waiting in ahead:
                waiting.cancel()
            pool.shutdown(wait=False, cancel_futures=True)


def _contexts(pool: ProcessPoolExecutor, task: ContextTask) -> list[Context]:
    """Make contexts in another process; blocks."""
    return pool.submit(make_contexts, task).result()


def _wanted(
    conversation: Conversation, systems: Sequence[System], file: RowFile
) -> dict[System, list[str]]:
    """Ids of the questions that can be scored and have no score yet, by system."""
    return {
        system: [
            question.id
            for question in conversation.questions
            if points(question)
            and (
                (row := file.rows.get((conversation.user, question.id, system.value))) is None
                or row.score is None
            )
        ]
        for system in systems
    }
