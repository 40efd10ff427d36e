"""Everything stored about one user, as a document for people: each table and all its rows of them.

References between rows are row numbers within the document. Times are ISO 8601 in UTC.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, TextIO

from hotmem.storage.database import Connection
from hotmem.storage.queries.times import from_stored
from hotmem.types import UserKey

DOCUMENT_TYPE: Final = "subject export"
"""The document's type, in its first field."""

OF_USER: Final = "user_key = :user"
OF_TURN: Final = "turn IN (SELECT id FROM turns WHERE user_key = :user)"
OF_MEMORY: Final = "memory IN (SELECT id FROM memories WHERE user_key = :user)"
OF_SUMMARY: Final = "summary IN (SELECT id FROM summaries WHERE user_key = :user)"
OF_RECALL: Final = "recall IN (SELECT id FROM recalls WHERE user_key = :user)"
OF_DECISION: Final = "decision IN (SELECT id FROM decisions WHERE user_key = :user)"
OF_EVOLUTION: Final = "evolution IN (SELECT id FROM evolutions WHERE user_key = :user)"
OF_SUBCATEGORY: Final = """subcategory IN (SELECT s.id FROM subcategories s JOIN evolutions e
    ON e.id = s.evolution WHERE e.user_key = :user)"""
OF_IMPORT: Final = "import IN (SELECT id FROM imports WHERE user_key = :user)"
"""Condition of rows that belong to an import of the user."""

HELD: Final = {
    "users": ("the user", "id = :user"),
    "speakers": ("names of who spoke", OF_USER),
    "sessions": ("conversations", OF_USER),
    "turns": ("what was said, word for word", OF_USER),
    "memories": ("what is known, and what no longer holds or went into another", OF_USER),
    "sources": ("from which words of which turns memories were read", OF_MEMORY),
    "summaries": ("summaries of conversations", OF_USER),
    "summary_sentences": ("their sentences, with the turns these are from", OF_SUMMARY),
    "summary_topics": ("what their topics weigh", OF_SUMMARY),
    "entities": ("people, places and things spoken of", OF_USER),
    "turn_entities": ("which turns speak of them", OF_TURN),
    "memory_entities": ("which memories speak of them", OF_MEMORY),
    "event_times": ("times of the events that turns mention", OF_TURN),
    "correction_counts": ("how often what turns say was corrected", OF_TURN),
    "tags": ("words that memories are filed under", OF_USER),
    "memory_tags": ("which memories are", OF_MEMORY),
    "evolutions": ("when subcategories were found", OF_USER),
    "subcategories": ("subcategories", OF_EVOLUTION),
    "subcategory_members": ("which memories are in them", OF_SUBCATEGORY),
    "decisions": ("what was decided about memories, and why", OF_USER),
    "decision_memories": ("which memories that was about", OF_DECISION),
    "decision_tags": ("which tags that was about", OF_DECISION),
    "recalls": ("what was asked of the memory, and what a reply to it was made of", OF_USER),
    "recall_items": ("what was given for it, and how the reply used it", OF_RECALL),
    "quality": ("how much of what was given was used, by day", OF_USER),
    "weights": ("how much each layer of the memory counts", OF_USER),
    "intent_weights": ("how much more or less it counts by the kind of question", OF_USER),
    "weight_history": ("how that changed", OF_USER),
    "learning_state": ("what that is learnt from", OF_USER),
    "imports": ("what was imported", OF_USER),
    "import_changes": ("what imports changed", OF_IMPORT),
    "pending_turns": ("turns that wait to be understood", OF_USER),
    "pending_extractions": ("turns that wait to be sent to a language model", OF_USER),
    "extraction_calls": ("calls to a language model in the background", OF_USER),
    "failures": ("work that failed", OF_USER),
    "deletions": ("what was forgotten and can still be brought back, until when", OF_USER),
    "audit": ("who looked at the memory, changed it or took something out of it", OF_USER),
}
"""Tables, a description of their rows, and the condition of the user's rows, in document order."""

DERIVED: Final = (
    "derived from the words above, which are exported in full; used by the search alone"
)

LEFT_OUT: Final = {
    "passages": DERIVED,
    "passage_signs": DERIVED,
    "memory_signs": DERIVED,
    "passage_entries": DERIVED,
    "memory_entries": DERIVED,
    "summary_entries": DERIVED,
    "passage_words": DERIVED,
    "memory_words": DERIVED,
    "index_revisions": "counts changes of the search indexes",
    "leases": "which worker runs background jobs, for a minute at a time",
    "deleted_rows": "what was asked to be forgotten; it is erased for good at the time "
    "given by deletions",
    "tombstones": "keyed hashes of the ids of what was forgotten, which reveal nothing else",
}
"""Tables with rows of a user that are left out, and why."""

MOMENTS: Final = frozenset({"at", "since", "until", "valid_until"})
"""Columns that hold times, besides those with a name that ends in _at."""


def write(conn: Connection, user: UserKey, now: datetime, out: TextIO) -> dict[str, int]:
    """Writes the document as of one moment; returns the number of rows of each table.

    Args:
        conn: A connection, within a transaction.
        user: The user.
        now: When it is written.
        out: Where it is written, one row a line.
    """
    counts = {
        table: conn.execute(
            f"SELECT count(*) FROM {table} WHERE {condition}", {"user": user}
        ).fetchone()[0]
        for table, (_, condition) in HELD.items()
    }
    contents = [
        {"table": table, "holds": HELD[table][0], "rows": count} for table, count in counts.items()
    ]
    head = {
        "type": DOCUMENT_TYPE,
        "made_at": now.isoformat(),
        "contents": contents,
        "left_out": LEFT_OUT,
    }
    out.write(
        "{\n"
        + ",\n".join(
            f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, indent=1)}"
            for name, value in head.items()
        )
    )
    for table, (_, condition) in HELD.items():
        out.write(f",\n{json.dumps(table)}: [")
        for place, row in enumerate(_rows(conn, table, condition, user)):
            out.write(("," if place else "") + "\n" + json.dumps(row, ensure_ascii=False))
        out.write("\n]")
    out.write("\n}\n")
    return counts


def _rows(conn: Connection, table: str, condition: str, user: UserKey) -> Iterator[dict[str, Any]]:
    """The user's rows by column, without vectors and the user's row number."""
    rows = conn.execute(f"SELECT * FROM {table} WHERE {condition}", {"user": user})
    for row in rows:
        names = [column[0] for column in rows.description]
        yield {
            name: _readable(name, value)
            for name, value in zip(names, row, strict=True)
            if name != "user_key" and not isinstance(value, bytes)
        }


def _readable(name: str, value: Any) -> Any:  # noqa: ANN401 - what a column holds
    if isinstance(value, int) and (name in MOMENTS or name.endswith("_at")):
        try:
            return from_stored(value).isoformat()
        except OverflowError:  # an open end
            return None
    return value
