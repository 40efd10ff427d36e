"""The table of regimes.

A row a question, system and budget; who leads, and what is said of what is known.
"""

from pathlib import Path

import pytest
from rich.console import Console

from eval.baselines import Baseline
from eval.datasets import everyday
from eval.histories import cut_after
from eval.regimes.command import OWN
from eval.regimes.measure import BUDGETS, Cell, Row, measured, tasks
from eval.regimes.report import answers, leads
from eval.rows import HOTMEM
from tests.eval import inline

CELL = Cell("everyday", "told", 1, "echo")


def row(
    system: str,
    delivered: float,
    question: str = "q",
    *,
    equal: bool = True,
    items: tuple[tuple[float, bool], ...] = (),
) -> Row:
    return Row(
        CELL,
        question,
        True,
        True,
        system,
        max(BUDGETS),
        equal,
        100,
        delivered,
        True,
        None,
        True,
        False,
        items,
    )


def test_the_best_reference_is_the_one_beside_which_it_counts() -> None:
    rows = [row(HOTMEM, 1.0, "a"), row(HOTMEM, 0.0, "b")]
    for equal, share in ((True, 0.5), (False, 1.0)):
        for system, delivered in ((Baseline.BM25, 0.0), (Baseline.MINILM, share)):
            rows += [row(system, delivered, question, equal=equal) for question in ("a", "b")]
    (lead,) = leads(rows)
    assert (lead.delivered, lead.equal[:2], lead.whole[:2]) == (
        0.5,
        ("MiniLM", 0.5),
        ("MiniLM", 1.0),
    )
    assert (lead.equal[2].mean, lead.whole[2].mean) == (0.0, -0.5)


def test_calibration_is_over_the_items() -> None:
    (said,) = answers([row(HOTMEM, 1.0, items=((1.0, True), (0.0, False)))])
    assert said.calibration == pytest.approx(0.0) and said.marked == 1.0
    (wrong,) = answers([row(HOTMEM, 1.0, items=((1.0, False), (0.0, True)))])
    assert wrong.calibration == pytest.approx(1.0)


def test_a_young_memory_is_measured_from_every_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inline.install(monkeypatch)
    batch = cut_after(next(everyday.load(Path(OWN.partition("=")[2]))), 2)
    few = batch.__class__(
        batch.user, batch.sessions, (*batch.questions[:3], batch.questions[-1]), notes=batch.notes
    )
    rows = measured(
        tasks({"everyday": [few]}, tmp_path, held_out_only=False), 1, Console(quiet=True)
    )
    assert {one.cell.source for one in rows} == {"told", "stored", "imported", "mixed"}
    own = [one for one in rows if one.system == HOTMEM]
    assert all(one.tokens <= one.budget for one in rows) and {one.budget for one in own} == set(
        BUDGETS
    )
    assert all(one.delivered is not None for one in rows if one.answerable)
    assert {one.cell.wording for one in own} >= {"recognised"} and leads(rows) and answers(rows)
