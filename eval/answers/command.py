"""The command `python -m eval answers`."""

import asyncio
import os
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.answers.contexts import System
from eval.answers.report import figures, show
from eval.answers.rows import Prices, RowFile, summarize
from eval.answers.run import Answering, AnswerTask, run_answers
from eval.arguments import AsJson, Cache, Jobs, working_folder
from eval.datasets import LOADERS, Dataset
from eval.output import print_json
from hotmem import Options
from hotmem.models import TokenCounter
from hotmem.models.chat_endpoint import ChatEndpoint
from hotmem.options import ExtractionOptions

KEY: Final = "OPENAI_API_KEY"
JUDGE_KEY: Final = "JUDGE_API_KEY"


def answers(
    dataset: Annotated[Dataset, typer.Argument(help="Format of the data.")],
    path: Annotated[Path, typer.Argument(help="File or folder of the dataset.", exists=True)],
    model: Annotated[str, typer.Option(help="Model that answers.")],
    judge: Annotated[str, typer.Option(help="Model that judges the answers.")],
    url: Annotated[
        str | None,
        typer.Option(help=f"OpenAI-compatible endpoint; OpenAI's by default. Key: {KEY}."),
    ] = None,
    judge_url: Annotated[
        str | None,
        typer.Option(help=f"Endpoint of the judge; the same by default. Key: {JUDGE_KEY}."),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="File for the answers; the command goes on with those it has."),
    ] = None,
    system: Annotated[
        list[System] | None, typer.Option(help="Systems to compare; all by default.")
    ] = None,
    budget: Annotated[int, typer.Option(help="Maximum tokens of a block.", min=1)] = 1000,
    full_tokens: Annotated[
        int, typer.Option(help="Maximum tokens of the full context; the latest are kept.", min=1)
    ] = 110_000,
    limit: Annotated[int | None, typer.Option(help="Maximum conversations.", min=1)] = None,
    questions: Annotated[
        int | None, typer.Option(help="Maximum questions of each conversation.", min=1)
    ] = None,
    concurrency: Annotated[int, typer.Option(help="Calls at the same time.", min=1)] = 4,
    timeout: Annotated[float, typer.Option(help="Seconds until a call has failed.", min=0.1)] = 120,
    prompt_price: Annotated[float, typer.Option(help="Dollars per million tokens.", min=0)] = 0,
    completion_price: Annotated[float, typer.Option(help="Likewise, of answers.", min=0)] = 0,
    judge_prompt_price: Annotated[float, typer.Option(help="Likewise, of the judge.", min=0)] = 0,
    judge_completion_price: Annotated[float, typer.Option(help="Likewise.", min=0)] = 0,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Have a model answer from HotMem's block, the nearest turns and the full context; judge it.

    The conversations and questions are sent to the endpoints. Questions without an expected answer
    are left out. The same model, judge and questions serve every system, so compare the systems of
    one run, not runs with other models or judges.
    """
    conversations = [
        replace(one, questions=one.questions[:questions])
        for one in islice(LOADERS[dataset](path), limit)
    ]
    prices = Prices(prompt_price, completion_price, judge_prompt_price, judge_completion_price)
    run = f"{dataset}, {model} judged by {judge}, {budget} and {full_tokens} tokens"
    file = RowFile(rows, run)
    with working_folder(cache) as folder:
        task = AnswerTask(
            conversations,
            list(dict.fromkeys(system or System)),
            budget,
            full_tokens,
            jobs,
            concurrency,
            folder,
        )
        asyncio.run(
            _run(
                task,
                file,
                run,
                ExtractionOptions(model, url, os.environ.get(KEY, ""), timeout_s=timeout),
                ExtractionOptions(
                    judge,
                    judge_url or url,
                    os.environ.get(JUDGE_KEY) or ("" if judge_url else os.environ.get(KEY, "")),
                    timeout_s=timeout,
                ),
            )
        )
    asked = {(one.user, question.id) for one in conversations for question in one.questions}
    found = [
        row for row in file.rows.values() if row.key[:2] in asked and row.system in task.systems
    ]
    summaries = summarize(found, prices)
    if summaries:
        show(summaries, run)
    else:
        print("No question is scored for every system.")
    print_json({"run": run, "rows": len(found)} | figures(summaries, found, prices), as_json)


async def _run(
    task: AnswerTask,
    file: RowFile,
    run: str,
    model: ExtractionOptions,
    judge: ExtractionOptions,
) -> None:
    options = Options().models
    tokens = TokenCounter.load(options.encoding)
    answering_model, judging_model = ChatEndpoint(model), ChatEndpoint(judge)
    try:
        answering = Answering(
            answering_model, judging_model, file, run, tokens=tokens, concurrency=task.concurrency
        )
        await run_answers(task, answering, file)
    finally:
        await answering_model.close()
        await judging_model.close()
