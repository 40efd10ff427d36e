"""What each part brings.

Evidence delivered on held-out conversations without it, the model fitted anew each time.

A layer is turned off by not asking it, a group of features by fitting without them, a step of
packing by leaving it out. Whether anything is known at all is not decided here: every question with
evidence gets a block.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Final
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.progress import track

from eval.report import interval, share, table
from eval.retrieval import SHIPPED, Asked, Choice
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS, Packer, judged, scored
from eval.train import Sample, fitted, samples
from hotmem.block import packing
from hotmem.options import RecallOptions
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import FEATURES
from hotmem.ranking.relevance import RelevanceModel
from hotmem.types import Layer

WHOLE: Final = "as shipped"
ALL: Final = "all"
"""All questions of all datasets together."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "words": ("words", "window_words", "overlap", "window_overlap", "words_rank"),
    "meaning of the whole": ("cosine", "cosine_gap", "window_cosine", "cosine_rank", "cosine_lift"),
    "late interaction": (
        "match",
        "match_gap",
        "match_all",
        "match_least",
        "match_rank",
        "match_lift",
        "window_match",
        "window_match_gap",
    ),
    "whether words are shared": ("unshared", "cosine_unshared", "match_unshared", "best_overlap"),
    "whether it asks": ("said", "cosine_said", "match_said"),
    "sessions": ("session_words", "session_overlap", "session_cosine", "session_match"),
    "facts": ("fact",),
    "speaker": ("speaker_fits", "other_speaker", "first_person", "assistant"),
    "questions": ("question", "after_question", "own_question"),
    "length": ("length",),
    "form of answer": ("answer_form", "no_answer_form", "name", "time"),
    "time asked about": ("in_time",),
}
"""Every feature in one group."""

WITHOUT: Final = {
    layer: Choice(tuple(other for other in Layer if other is not layer)) for layer in Layer
}
CHOICES: Final = (SHIPPED, *WITHOUT.values())
"""What must have been retrieved."""


SHIPPED_LIMITS: Final = RecallOptions()


@dataclass(frozen=True, slots=True)
class Variant:
    """HotMem with a part turned off.

    Attributes:
        name: What is off.
        choice: The layers there are.
        features: Features the model is fitted without.
        options: Limits of packing.
        trimming: Whether statements are cut down to the sentences that matter.
        merging: Whether a statement stands once that was found twice.
    """

    name: str
    choice: Choice = SHIPPED
    features: tuple[str, ...] = ()
    options: RecallOptions = SHIPPED_LIMITS
    trimming: bool = True
    merging: bool = True


VARIANTS: Final = (
    Variant(WHOLE),
    *(Variant(f"layer: {layer}", choice=choice) for layer, choice in WITHOUT.items()),
    *(Variant(f"features: {name}", features=features) for name, features in GROUPS.items()),
    Variant("packing: facts beside passages", options=RecallOptions(max_facts=0)),
    Variant("packing: trimming", trimming=False),
    Variant("packing: merging", merging=False),
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What one dataset loses without a part.

    Attributes:
        off: The part.
        dataset: The dataset.
        budget: Tokens of the block.
        evidence: Mean share of evidence delivered without it.
        difference: That less the share with it, over the same questions.
    """

    off: str
    dataset: str
    budget: int
    evidence: float
    difference: Estimate


def measure(asked: Mapping[str, Sequence[Asked]], console: Console) -> list[Effect]:
    """The effect of each part on each dataset, and on all questions together.

    Args:
        asked: What was retrieved under `CHOICES`, by dataset.
        console: Where the progress goes.
    """
    fitting = {
        choice: {name: samples(part, choice) for name, part in asked.items()} for choice in CHOICES
    }
    shares: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    models: dict[tuple[Choice, tuple[str, ...]], RelevanceModel] = {}
    for variant in track(VARIANTS, "parts", console=console):
        seen = fitting[variant.choice]
        key = variant.choice, variant.features
        if key not in models:
            models[key] = fitted(
                {
                    name: [without(one, variant.features) for one in part]
                    for name, part in seen.items()
                }
            )
        shares[variant.name] = {
            name: _delivered(asked[name], part, models[key], variant) for name, part in seen.items()
        }
        shares[variant.name][ALL] = [
            each for part in list(shares[variant.name].values()) for each in part
        ]
    return [
        Effect(
            off,
            name,
            budget,
            fmean(each[place] for each in part),
            _less(part, shares[WHOLE][name], place),
        )
        for place, budget in enumerate(BUDGETS)
        for off, parts in shares.items()
        for name, part in parts.items()
        if part
    ]


def without(sample: Sample, features: Sequence[str]) -> Sample:
    """The sample with features that tell nothing.

    A model fitted on them gives them no coefficient.
    """
    if not features:
        return sample
    told = np.array([name not in features for name in FEATURES])
    return replace(sample, features=np.where(told, sample.features, np.float32(0)))


def show(effects: Sequence[Effect], console: Console) -> None:
    """Prints the evidence delivered, then what each part turned off takes from it, in points."""
    names = list(dict.fromkeys(effect.dataset for effect in effects))
    result = table(
        "evidence delivered, and the points that go without a part (95 % interval)", "off", names
    )
    for column in result.columns:
        column.no_wrap = False
    for budget in BUDGETS:
        result.add_section()
        for off in dict.fromkeys(effect.off for effect in effects):
            row = {
                effect.dataset: effect
                for effect in effects
                if (effect.off, effect.budget) == (off, budget)
            }
            cells = [
                share(row[name].evidence) if off == WHOLE else interval(row[name].difference)
                for name in names
            ]
            result.add_row(f"{off}, {budget} tokens" if off == WHOLE else f"  {off}", *cells)
    console.print(result)


def figures(effects: Sequence[Effect]) -> dict[str, Any]:
    """The same as plain values."""
    return {"effects": [asdict(effect) for effect in effects]}


def _delivered(
    asked: Sequence[Asked], seen: Sequence[Sample], model: RelevanceModel, variant: Variant
) -> list[tuple[float, ...]]:
    """Evidence within each budget, for each question that is held out and scored."""
    packer = Packer(options=variant.options)
    shares = []
    with _trimming(on=variant.trimming):
        for one, sample in zip(asked, seen, strict=True):
            if one.held_out and scored(one):
                found = one.found[variant.choice]
                ranked, _ = judged(found, sample.features, model)
                shares.append(
                    packer.delivered(
                        one, found, deduplicate(ranked)[0] if variant.merging else ranked
                    )
                )
    return shares


def _less(
    part: Sequence[tuple[float, ...]], whole: Sequence[tuple[float, ...]], place: int
) -> Estimate:
    return paired_difference([each[place] for each in part], [each[place] for each in whole])


@contextmanager
def _trimming(*, on: bool) -> Iterator[None]:
    """Leaves trimming as it is, or takes it out of packing, which no bot can do."""
    if on:
        yield
        return
    with patch.object(packing, "trim", lambda text, asked: text):
        yield
