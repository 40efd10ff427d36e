"""The frontier: repeated lines, and the figures of a budget."""

from eval.baselines import Baseline
from eval.frontier.command import figures
from eval.frontier.measure import DEFAULT, Row, repeated
from eval.rows import HOTMEM


def row(system: str, delivered: float | None, question: str = "q") -> Row:
    return Row(
        dataset="talks",
        question=question,
        category="echo",
        answerable=delivered is not None,
        system=system,
        budget=DEFAULT,
        tokens=40,
        delivered=delivered,
        lines=4,
        right=1,
        repeated=2,
        marked={"high": (2, 1), "medium": (1, 0)},
        unknown=False,
    )


def test_a_line_is_repeated_once() -> None:
    told = "Samir the plumber lives in Leeds."
    assert repeated([told, told, "Samir lives in Leeds.", "Nina lives in York."]) == 2


def test_the_figures_of_a_budget() -> None:
    baselines = [row(one.value, 0.5) for one in Baseline]
    found = figures([row(HOTMEM, 1.0), *baselines, row(HOTMEM, None, "other")])["talks"]
    (at,) = (one for one in found["evidence"] if one["budget"] == DEFAULT)
    assert (at["evidence"][HOTMEM], at["lead"]["mean"]) == (1.0, 0.5)
    assert (at["right"], at["repeated"], at["marked"]["high"]) == (0.25, 0.5, [2, 1])
    assert [one["utterances"] for one in found["without"]] == [1]
