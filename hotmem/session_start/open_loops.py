"""Open loops: what the user left open in the last session."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from hotmem.ranking.confidence import MEDIUM_CONFIDENCE
from hotmem.session_start.material import Material
from hotmem.session_start.rendering import Line, shorten
from hotmem.text.escaping import escape_for_prompt
from hotmem.types import EvidenceKind, Item, Layer, Mark
from hotmem.understanding.private_statements import is_shown_unasked

MAX_LOOPS: Final = 3

MAX_AGE: Final = timedelta(days=60)
"""Age from which an open loop is left out."""


def open_loop_lines(material: Material, shown_turns: Collection[str]) -> list[Line]:
    """The lines of open loops.

    Args:
        material: What to select from.
        shown_turns: Ids of turns that are shown as plans already.
    """
    recent = [
        one
        for one in material.stored.loops
        if one.turn_id not in shown_turns
        and material.request.at - one.said_at <= MAX_AGE
        and is_shown_unasked(one.text)
    ]
    lines = []
    for one in recent[:MAX_LOOPS]:
        said_at = material.local(one.said_at)
        text = escape_for_prompt(shorten(one.text))
        item = Item(
            text=text,
            kind=EvidenceKind.SUMMARY,
            layer=Layer.SESSIONS,
            layers=(Layer.SESSIONS,),
            relevance=1.0,
            confidence=MEDIUM_CONFIDENCE,
            mark=Mark.MEDIUM,
            turn_ids=(one.turn_id,),
            memory_id=None,
            session_id=one.session_id,
            speaker=None,
            said_at=said_at,
        )
        lines.append(Line(f"Left open on {said_at:%Y-%m-%d}:", f"- {text}", item))
    return lines
