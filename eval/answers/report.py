"""The tables of a run."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from eval.answers.rows import AnswerRow, Prices, SystemSummary
from eval.output import cell, interval, print_table


def show(summaries: Mapping[str, SystemSummary], title: str) -> None:
    """Print the systems beside each other, then their scores by category."""
    print_table(
        title,
        ("system", "right", "tokens", "$/1,000", "context", "p50", "p95", "none"),
        [
            (
                *(system, one.score),
                cell(one.prompt_tokens) + "*" * bool(one.counted) + "†" * bool(one.cut),
                1000 * one.dollars or None,
                *(one.context_ms, one.answer_p50_ms, one.answer_p95_ms, one.unscored),
            )
            for system, one in summaries.items()
        ],
    )
    print(
        "tokens of a prompt; dollars for 1,000 answers; milliseconds until the context and until"
        " the answer was there; questions without a score"
    )
    if any(one.counted for one in summaries.values()):
        print("* the endpoint states no tokens for some answers: our count")
    if any(one.cut for one in summaries.values()):
        print("† some histories are longer than --full-tokens: their oldest turns are cut")
    ratios = [
        (
            *(f"{system} / {other}", ratio["score"], interval(one.against[other])),
            *(ratio["prompt_tokens"], ratio["answer_p50_ms"]),
        )
        for system, one in summaries.items()
        for other, ratio in one.ratios.items()
    ]
    if ratios:
        headings = ("", "right", "difference, points", "prompt tokens", "answer p50")
        print_table("each system beside the others", headings, ratios)
    names = sorted({name for one in summaries.values() for name in one.categories})
    print_table(
        "right, by category",
        ("category", *summaries),
        [(name, *(one.categories[name] for one in summaries.values())) for name in names],
    )


def figures(
    summaries: Mapping[str, SystemSummary], rows: list[AnswerRow], prices: Prices
) -> dict[str, Any]:
    """The figures as JSON."""
    return {
        "systems": dict(summaries),
        "dollars": round(sum(prices.of_answer(row) for row in rows), 4),
        "judge_dollars": round(sum(prices.of_verdict(row) for row in rows), 4),
        "failures": Counter(row.failure for row in rows if row.failure),
    }
