"""The searches within a window of time."""

import pytest

from hotmem.storage.queries import event_times
from hotmem.storage.search import searches
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import EvidenceKind


@pytest.mark.parametrize("kind", [EvidenceKind.PASSAGE, EvidenceKind.MEMORY])
def test_a_window_is_read_through_an_index(kind: EvidenceKind, conn: Connection) -> None:
    """Nothing of what is read grows with the rest of the memory."""
    values = dict.fromkeys(("user", "start", "end", "longest", "earliest", "limit", "most"), 1)
    for sql in (event_times.of_kind(event_times.IN_WINDOW, kind), searches.ROWS[kind]):
        plan = [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert any(step.startswith("SEARCH") and "(user_key=? AND" in step for step in plan), plan
        scans = [step for step in plan if step.startswith("SCAN")]
        assert all(step.startswith("SCAN t") for step in scans), plan
