"""The regimes as two tables: evidence against the best baseline, and reported confidence."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
from rich.console import Console

from eval.regimes.measure import BUDGETS, Cell, Row
from eval.report import interval, share, table
from eval.rows import HOTMEM, mean
from eval.statistics import Estimate, calibration_error, paired_difference

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Lead:
    """HotMem and the best baseline of a cell at one budget.

    Attributes:
        cell: The regime.
        budget: Maximum tokens of a block.
        questions: Number of answerable questions.
        delivered: HotMem's mean share of evidence.
        tokens: Mean tokens of its blocks.
        equal: The best baseline with HotMem's tokens, its share, and HotMem's lead.
        whole: The best baseline with the whole budget, its share, and HotMem's lead.
    """

    cell: Cell
    budget: int
    questions: int
    delivered: float
    tokens: float
    equal: tuple[str, float, Estimate]
    whole: tuple[str, float, Estimate]

    @property
    def behind(self) -> bool:
        """Whether HotMem is significantly behind one of them."""
        return self.equal[2].high < 0 or self.whole[2].high < 0


@dataclass(frozen=True, slots=True)
class Answers:
    """Confidence in one cell at the largest budget. None without questions.

    Attributes:
        cell: The regime; its wording is the group of wordings counted.
        questions: Number of questions.
        first: Share with evidence among the first three items.
        found: Share with evidence among the first three results of `search_memory`.
        marked: Share with evidence marked medium or high; if unanswerable, with any such mark.
        nothing: Share of blocks that report that nothing is known.
        calibration: Calibration error of the items' relevance.
    """

    cell: Cell
    questions: int
    first: float | None
    found: float | None
    marked: float
    nothing: float
    calibration: float | None


def leads(rows: Sequence[Row]) -> list[Lead]:
    """Return one entry per cell and budget with answerable questions."""
    found = []
    for (cell, budget), part in _grouped(
        (row for row in rows if row.answerable), lambda row: (row.cell, row.budget)
    ).items():
        own = {(row.question): row for row in part if row.system == HOTMEM}
        best = []
        for equal in (True, False):
            systems = _grouped(
                (row for row in part if row.system != HOTMEM and row.equal is equal),
                lambda row: row.system,
            )
            name, theirs = max(
                systems.items(), key=lambda pair: mean(row.delivered for row in pair[1]) or 0.0
            )
            lead = paired_difference(
                [own[row.question].delivered or 0.0 for row in theirs],
                [row.delivered or 0.0 for row in theirs],
            )
            best.append((name, mean(row.delivered for row in theirs) or 0.0, lead))
        shares = mean(row.delivered for row in own.values()) or 0.0
        found.append(
            Lead(
                cell,
                budget,
                len(own),
                shares,
                mean(float(row.tokens) for row in own.values()) or 0.0,
                best[0],
                best[1],
            )
        )
    return found


def answers(rows: Sequence[Row]) -> list[Answers]:
    """Return one entry per cell, at the largest budget."""
    own = (row for row in rows if row.system == HOTMEM and row.budget == max(BUDGETS))
    return [
        Answers(
            cell=cell,
            questions=len(part),
            first=mean(None if row.first is None else float(row.first) for row in part),
            found=mean(None if row.found is None else float(row.found) for row in part),
            marked=mean(float(row.marked) for row in part) or 0.0,
            nothing=mean(float(row.nothing) for row in part) or 0.0,
            calibration=_calibration(part),
        )
        for cell, part in _grouped(own, lambda row: row.cell).items()
    ]


def show(rows: Sequence[Row], console: Console) -> None:
    """Print both tables and the cells in which HotMem is behind."""
    found = leads(rows)
    first = table(
        "evidence delivered",
        "regime",
        ("budget", "questions", "HotMem", "tokens", "same tokens", "lead", "whole budget", "lead"),
    )
    for one in found:
        beside = [
            part
            for name, value, lead in (one.equal, one.whole)
            for part in (f"{name} {share(value)}", interval(lead))
        ]
        first.add_row(
            _name(one.cell),
            str(one.budget),
            str(one.questions),
            share(one.delivered),
            f"{one.tokens:.0f}",
            *beside,
        )
    console.print(first)
    second = table(
        "what is said of what is known",
        "regime",
        ("questions", "top 3", "search top 3", "marked", "nothing", "calibration error"),
    )
    for said in answers(rows):
        shares = map(share, (said.first, said.found, said.marked, said.nothing, said.calibration))
        second.add_row(_name(said.cell), str(said.questions), *shares)
    console.print(second)
    behind = [one for one in found if one.behind]
    console.print(
        f"{len(behind)} of {len(found)} cells behind the best reference by more than chance"
    )


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the results as plain values."""
    return {
        "evidence": [asdict(one) for one in leads(rows)],
        "said": [asdict(one) for one in answers(rows)],
    }


def _calibration(rows: Iterable[Row]) -> float | None:
    items = [item for row in rows for item in row.items]
    if not items:
        return None
    return calibration_error(
        np.array([item[0] for item in items], dtype=np.float32),
        np.array([item[1] for item in items]),
    )


def _name(cell: Cell) -> str:
    return f"{cell.dataset}, {cell.source}, {cell.sessions or 'all'} sessions, {cell.wording}"


def _grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    parts: defaultdict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        parts[key(row)].append(row)
    return dict(parts)
