"""An encoder's codes in the whole pipeline: what was retrieved once is ranked and packed under other codes, with a relevance model fitted on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean

from eval.encoder.material import Reader
from eval.retrieval import SHIPPED, Asked
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS, Packer, scored, statements
from eval.train import Sample, fitted, samples
from hotmem.types import Evidence, EvidenceKind, Signs


@dataclass(frozen=True, slots=True)
class Delivered:
    """What one encoder's codes deliver on one dataset's held-out conversations.

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


def delivered(asked: Mapping[str, Sequence[Asked]], readers: Mapping[str, Reader | None]) -> Iterator[Delivered]:
    """What each encoder delivers, beside the first.

    Args:
        asked: What was retrieved, by dataset.
        readers: Encoders by name; None keeps the codes that the store holds.
    """
    base: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for name, reader in readers.items():
        coded = {dataset: [recoded(one, reader) if reader else one for one in part] for dataset, part in asked.items()}
        seen = {dataset: samples(part) for dataset, part in coded.items()}
        model = fitted(seen)
        packer = Packer()
        for dataset, part in coded.items():
            shares: dict[str, list[tuple[float, ...]]] = {}
            for one, sample in _held_out(part, seen[dataset]):
                found = one.found[SHIPPED]
                share = packer.delivered(one, found, statements(found, sample.features, model))
                for wording in dict.fromkeys(("all", one.question.category)):
                    shares.setdefault(wording, []).append(share)
            for wording, each in shares.items():
                before = base.setdefault((dataset, wording), each)
                pairs = [([share[at] for share in each], [share[at] for share in before]) for at in range(len(BUDGETS))]
                gain = tuple(paired_difference(now, then) for now, then in pairs)
                yield Delivered(name, dataset, wording, len(each), tuple(fmean(now) for now, _ in pairs), gain)


def recoded(asked: Asked, reader: Reader) -> Asked:
    """The same with other codes of the question and of everything that was found."""
    found = asked.found[SHIPPED]
    query = replace(found.query, pieces=reader([" ".join((found.query.text, *found.query.analysis.expansion))])[0].states)
    candidates = [one._replace(evidence=_with_codes(one.evidence, reader)) for one in found.candidates]
    return replace(asked, found={SHIPPED: replace(found, query=query, candidates=candidates)})


def _with_codes(evidence: Evidence, reader: Reader) -> Evidence:
    if evidence.signs is None:
        return evidence
    text = f"{evidence.speaker}: {evidence.text}" if evidence.kind is EvidenceKind.PASSAGE and evidence.speaker else evidence.text
    return evidence._replace(signs=_signs(reader, text))


@cache
def _signs(reader: Reader, text: str) -> Signs:
    return reader([text])[0].signs


def _held_out(part: Sequence[Asked], seen: Sequence[Sample]) -> Iterator[tuple[Asked, Sample]]:
    return ((one, sample) for one, sample in zip(part, seen, strict=True) if one.held_out and scored(one))
