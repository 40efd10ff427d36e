"""Relevance labels for training, by the same rule as the metric."""

from collections.abc import Mapping, Sequence

from eval.evidence import contains_turn
from hotmem.types import Evidence, EvidenceKind, Item, Turn


def is_evidence(shown: Evidence | Item, wanted: Sequence[str], turns: Mapping[str, Turn]) -> bool:
    """Return whether evidence contains a wanted turn, or is a fact extracted from one."""
    match shown.kind:
        case EvidenceKind.SUMMARY:
            return any(
                turns[turn].session_id == shown.session_id
                and contains_turn(shown.text, turns[turn].text)
                for turn in wanted
            )
        case EvidenceKind.MEMORY:
            return any(turn in shown.turn_ids for turn in wanted)
        case EvidenceKind.PASSAGE:
            return any(
                turn in shown.turn_ids and contains_turn(shown.text, turns[turn].text)
                for turn in wanted
            )
