"""What counts as evidence in training: the same rule that the metric has for a block's items."""

from collections.abc import Mapping, Sequence

from eval.evidence import holds
from hotmem.types import Evidence, EvidenceKind, Item, Turn


def helps(shown: Evidence | Item, wanted: Sequence[str], turns: Mapping[str, Turn]) -> bool:
    """Whether a passage holds the words of a wanted turn, a fact was read from one, or a summary is of a session with one."""
    if shown.kind is EvidenceKind.SUMMARY:
        return any(turns[turn].session_id == shown.session_id for turn in wanted)
    told = shown.kind is EvidenceKind.MEMORY
    return any(turn in shown.turn_ids and (told or holds(shown.text, turns[turn].text)) for turn in wanted)
