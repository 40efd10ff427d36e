"""The contribution of each part: evidence delivered without it, with the model fitted again.

Parts are layers, groups of features and steps of packing. Answerability is not applied: every
question with evidence gets a block.
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

from eval.relevance import Sample, fit, samples
from eval.report import interval, share, table
from eval.retrieval import DEFAULT_LAYERS, LayerChoice, RetrievedQuestion
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS, Packer, judged, scored
from hotmem.block import packing
from hotmem.block.quotes import quotes
from hotmem.ranking.features import FEATURES
from hotmem.ranking.relevance import RelevanceModel
from hotmem.types import Layer

WHOLE: Final = "as shipped"
ALL: Final = "all"
"""All questions of all datasets."""

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
"""Each feature in one group."""

WITHOUT: Final = {
    layer: LayerChoice(tuple(other for other in Layer if other is not layer)) for layer in Layer
}
CHOICES: Final = (DEFAULT_LAYERS, *WITHOUT.values())
"""Choices of layers that the variants need."""


@dataclass(frozen=True, slots=True)
class Variant:
    """HotMem without one part.

    Attributes:
        name: Name of the part.
        choice: Choice of layers.
        features: Features left out of the model.
        trimming: Whether statements are cut to their relevant sentences.
        merging: Whether duplicate statements are merged.
    """

    name: str
    choice: LayerChoice = DEFAULT_LAYERS
    features: tuple[str, ...] = ()
    trimming: bool = True
    merging: bool = True


VARIANTS: Final = (
    Variant(WHOLE),
    *(Variant(f"layer: {layer}", choice=choice) for layer, choice in WITHOUT.items()),
    *(Variant(f"features: {name}", features=features) for name, features in GROUPS.items()),
    Variant("packing: trimming", trimming=False),
    Variant("packing: merging", merging=False),
)


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of leaving out one part on one dataset.

    Attributes:
        off: Name of the part.
        dataset: The dataset.
        budget: Maximum tokens of the block.
        evidence: Mean share of evidence delivered without it.
        difference: Difference from the share with it, over the same questions.
    """

    off: str
    dataset: str
    budget: int
    evidence: float
    difference: Estimate


def measure(asked: Mapping[str, Sequence[RetrievedQuestion]], console: Console) -> list[Effect]:
    """Measure the effect of each part on each dataset, and on all questions.

    Args:
        asked: Candidates under `CHOICES`, by dataset.
        console: Console for the progress bar.
    """
    fitting = {
        choice: {name: samples(part, choice) for name, part in asked.items()} for choice in CHOICES
    }
    shares: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    models: dict[tuple[LayerChoice, tuple[str, ...]], RelevanceModel] = {}
    for variant in track(VARIANTS, "parts", console=console):
        seen = fitting[variant.choice]
        key = variant.choice, variant.features
        if key not in models:
            models[key] = fit(
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
    """Return the sample with some features set to 0, so that the model ignores them."""
    if not features:
        return sample
    told = np.array([name not in features for name in FEATURES])
    return replace(sample, features=np.where(told, sample.features, np.float32(0)))


def show(effects: Sequence[Effect], console: Console) -> None:
    """Print the evidence delivered, then the loss without each part, in percentage points."""
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
    """Return the results as plain values."""
    return {"effects": [asdict(effect) for effect in effects]}


def _delivered(
    asked: Sequence[RetrievedQuestion],
    seen: Sequence[Sample],
    model: RelevanceModel,
    variant: Variant,
) -> list[tuple[float, ...]]:
    """Return the evidence within each budget, for each scored held-out question."""
    packer = Packer()
    shares = []
    with _trimming(on=variant.trimming):
        for one, sample in zip(asked, seen, strict=True):
            if one.held_out and scored(one):
                found = one.found[variant.choice]
                ranked, _ = judged(found, sample.features, model)
                shares.append(
                    packer.delivered(one, found, quotes(ranked)[0] if variant.merging else ranked)
                )
    return shares


def _less(
    part: Sequence[tuple[float, ...]], whole: Sequence[tuple[float, ...]], place: int
) -> Estimate:
    return paired_difference([each[place] for each in part], [each[place] for each in whole])


@contextmanager
def _trimming(*, on: bool) -> Iterator[None]:
    """Disable trimming within this block if requested."""
    if on:
        yield
        return
    with patch.object(packing, "trim", lambda text, *_: text):
        yield
