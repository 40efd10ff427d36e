"""The tables of a run."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from eval.answers.rows import AnswerRow, Prices, SystemSummary
from eval.statistics import Estimate


def show(summaries: Mapping[str, SystemSummary], title: str, console: Console) -> None:
    """Print the systems beside each other, then their scores by category."""
    table = Table(title=title)
    for name in ("system", "right", "95 %", "tokens", "$/1,000", "context", "p50", "p95", "none"):
        table.add_column(name, justify="left" if name == "system" else "right")
    for system, one in summaries.items():
        table.add_row(
            system,
            _percent(one.score.mean),
            _interval(one.score),
            f"{one.prompt_tokens:,.0f}" + ("*" if one.counted else "") + ("†" if one.cut else ""),
            f"{1000 * one.dollars:,.2f}" if one.dollars else "–",
            f"{one.context_ms:,.0f}",
            f"{one.answer_p50_ms:,.0f}",
            f"{one.answer_p95_ms:,.0f}",
            str(one.unscored),
        )
    console.print(table)
    console.print(
        "tokens of a prompt; dollars for 1,000 answers; milliseconds until the context and until"
        " the answer was there; questions without a score"
    )
    if any(one.counted for one in summaries.values()):
        console.print("* the endpoint states no tokens for some answers: our count")
    if any(one.cut for one in summaries.values()):
        console.print("† some histories are longer than --full-tokens: their oldest turns are cut")
    ratios = Table(title="each system beside the others")
    for name in ("", "right", "difference", "prompt tokens", "answer p50"):
        ratios.add_column(name, justify="right" if name else "left")
    for system, one in summaries.items():
        for other, ratio in one.ratios.items():
            difference = one.against[other]
            ratios.add_row(
                f"{system} / {other}",
                _ratio(ratio["score"]),
                f"{100 * difference.mean:+.1f} ({_interval(difference)})",
                _ratio(ratio["prompt_tokens"]),
                _ratio(ratio["answer_p50_ms"]),
            )
    if ratios.row_count:
        console.print(ratios)
    categories = Table(title="right, by category")
    categories.add_column("category")
    for system in summaries:
        categories.add_column(system, justify="right")
    names = sorted({name for one in summaries.values() for name in one.categories})
    for name in names:
        categories.add_row(name, *(_percent(one.categories[name]) for one in summaries.values()))
    console.print(categories)


def figures(
    summaries: Mapping[str, SystemSummary], rows: list[AnswerRow], prices: Prices
) -> dict[str, Any]:
    """The figures as JSON."""
    return {
        "systems": {system: asdict(one) for system, one in summaries.items()},
        "dollars": round(sum(prices.of_answer(row) for row in rows), 4),
        "judge_dollars": round(sum(prices.of_verdict(row) for row in rows), 4),
        "failures": _count(row.failure for row in rows if row.failure),
    }


def _count(values: Any) -> dict[str, int]:  # noqa: ANN401 - any iterable of text
    found: dict[str, int] = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _interval(estimate: Estimate) -> str:
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}×"
