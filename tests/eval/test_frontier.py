"""The frontier: repeated lines, the figures of a budget; and what is untrue in a block."""

from dataclasses import replace
from datetime import date

from eval.baselines import Baseline
from eval.evidence import repeated
from eval.frontier import DEFAULT, figures
from eval.rows import HOTMEM, Row
from eval.truth import FAULTS, faults
from hotmem import Item, Mark
from tests.conversation import START
from tests.ranking.statements import QUOTE


def row(system: str, delivered: float | None, question: str = "q") -> Row:
    return Row(
        conversation="ana",
        question=question,
        category="echo",
        abstain=delivered is None,
        system=system,
        delivered=delivered,
        all=None,
        answer=None,
        sessions=None,
        tokens=40,
        ms=1.0,
        items=4,
        relevance=0.5,
        unknown=False,
        budget=DEFAULT,
        right=1,
        repeated=2,
        marked={"high": (2, 1), "medium": (1, 0)},
    )


def test_a_line_is_repeated_once() -> None:
    told = "Samir the plumber lives in Leeds."
    assert repeated([told, told, "Samir lives in Leeds.", "Nina lives in York."]) == 2


def test_the_figures_of_a_budget() -> None:
    baselines = [row(one.value, 0.5) for one in Baseline]
    found = figures([row(HOTMEM, 1.0), *baselines, row(HOTMEM, None, "other")])
    (at,) = (one for one in found["evidence"] if one["budget"] == DEFAULT)
    assert (at["evidence"][HOTMEM], at["lead"].mean) == (1.0, 0.5)
    assert (at["right"], at["repeated"], at["marked"]["high"]) == (0.25, 0.5, [2, 1])
    assert [one["utterances"] for one in found["without"]] == [1]


def test_the_faults_of_a_block() -> None:
    labels = {
        turn: {"id": f"st{turn}", "label": label, "by": by, "when": when}
        for turn, label, by, when in (
            ("old", "outdated", "stnew", None),
            ("new", "true", None, "2026-03-16"),
            ("dream", "never", None, None),
        )
    }
    old, new, dream = (
        replace(QUOTE, text=turn, turn_ids=(turn,), mark=Mark.LOW) for turn in labels
    )
    right = replace(new, times=((date(2026, 3, 16), date(2026, 3, 16)),))
    wrong = replace(new, times=((date(2026, 2, 16), date(2026, 2, 16)),))
    marked = replace(dream, mark=Mark.HIGH)

    def names(*items: Item) -> list[str]:
        return [name for name, *_ in faults(items, labels, "Ana")]

    assert names(right, old, dream) == []
    assert names(old, right) == ["stale"]
    assert names(replace(old, valid_until=START), right) == []
    assert names(replace(wrong, valid_until=START, speaker="Ben"), marked) == [
        "wrong day", "wrongly ended", "speaker", "not meant",
    ]  # fmt: skip
    assert len(FAULTS) == 5
