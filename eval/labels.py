"""What counts as evidence in training: the same rule that the metric has for a block's items."""

from collections.abc import Mapping, Sequence

from eval.evidence import holds
from hotmem.types import Evidence, EvidenceKind, Item, Turn


def helps(shown: Evidence | Item, wanted: Sequence[str], turns: Mapping[str, Turn]) -> bool:
    """Whether a passage or a summary holds the words of a wanted turn, or a fact was read from one."""
    match shown.kind:
        case EvidenceKind.SUMMARY:
            return any(
                turns[turn].session_id == shown.session_id and holds(shown.text, turns[turn].text)
                for turn in wanted
            )
        case EvidenceKind.MEMORY:
            return any(turn in shown.turn_ids for turn in wanted)
        case EvidenceKind.PASSAGE:
            return any(
                turn in shown.turn_ids and holds(shown.text, turns[turn].text) for turn in wanted
            )
