"""An encoder in the whole pipeline, with a relevance model fitted on its candidates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.relevance import Sample, fit, samples
from eval.retrieval import DEFAULT_LAYERS, RetrievedQuestion
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS, Packer, scored, statements


@dataclass(frozen=True, slots=True)
class Delivered:
    """Evidence delivered with one encoder on one dataset's held-out conversations.

    Attributes:
        encoder: Name of the encoder.
        dataset: Dataset, or its source.
        wording: Category of the questions, or "all".
        questions: Number of questions.
        evidence: Mean share of evidence in a block of each of `BUDGETS` tokens.
        gain: Difference from the first encoder over the same questions.
    """

    encoder: str
    dataset: str
    wording: str
    questions: int
    evidence: tuple[float, ...]
    gain: tuple[Estimate, ...]


def delivered(
    found: Iterable[tuple[str, Mapping[str, Sequence[RetrievedQuestion]]]],
) -> Iterator[Delivered]:
    """Yield the evidence delivered with each encoder, compared with the first.

    Args:
        found: Name of each encoder, and its candidates by dataset.
    """
    base: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for name, asked in found:
        seen = {dataset: samples(part) for dataset, part in asked.items()}
        model = fit(seen)
        packer = Packer()
        for dataset, part in asked.items():
            shares: dict[str, list[tuple[float, ...]]] = {}
            for one, sample in _held_out(part, seen[dataset]):
                candidates = one.found[DEFAULT_LAYERS]
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


def _held_out(
    part: Sequence[RetrievedQuestion], seen: Sequence[Sample]
) -> Iterator[tuple[RetrievedQuestion, Sample]]:
    return (
        (one, sample)
        for one, sample in zip(part, seen, strict=True)
        if one.held_out and scored(one)
    )
