"""An encoder in the whole pipeline.

What is retrieved with it is ranked and packed, with a relevance model fitted on that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.retrieval import SHIPPED, Asked
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS, Packer, scored, statements
from eval.train import Sample, fitted, samples


@dataclass(frozen=True, slots=True)
class Delivered:
    """What one encoder delivers on one dataset's held-out conversations.

    Attributes:
        encoder: Its name.
        dataset: The dataset, or its source.
        wording: The category of the questions, or "all".
        questions: How many.
        evidence: Mean share of evidence in a block of each of `BUDGETS` tokens.
        gain: That less the first encoder's share, over the same questions.
    """

    encoder: str
    dataset: str
    wording: str
    questions: int
    evidence: tuple[float, ...]
    gain: tuple[Estimate, ...]


def delivered(found: Iterable[tuple[str, Mapping[str, Sequence[Asked]]]]) -> Iterator[Delivered]:
    """What each encoder delivers, beside the first.

    Args:
        found: Each encoder's name, and what was retrieved with it, by dataset.
    """
    base: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for name, asked in found:
        seen = {dataset: samples(part) for dataset, part in asked.items()}
        model = fitted(seen)
        packer = Packer()
        for dataset, part in asked.items():
            shares: dict[str, list[tuple[float, ...]]] = {}
            for one, sample in _held_out(part, seen[dataset]):
                candidates = one.found[SHIPPED]
                share = packer.delivered(
                    one, candidates, statements(candidates, sample.features, model)
                )
                for wording in dict.fromkeys(("all", one.question.category)):
                    shares.setdefault(wording, []).append(share)
            for wording, each in shares.items():
                before = base.setdefault((dataset, wording), each)
                pairs = [
                    ([share[at] for share in each], [share[at] for share in before])
                    for at in range(len(BUDGETS))
                ]
                gain = tuple(paired_difference(now, then) for now, then in pairs)
                yield Delivered(
                    name, dataset, wording, len(each), tuple(fmean(now) for now, _ in pairs), gain
                )


def _held_out(part: Sequence[Asked], seen: Sequence[Sample]) -> Iterator[tuple[Asked, Sample]]:
    return (
        (one, sample)
        for one, sample in zip(part, seen, strict=True)
        if one.held_out and scored(one)
    )
