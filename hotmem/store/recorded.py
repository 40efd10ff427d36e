"""A memory file as others left it, read and never written, not even to bring its schema up to date."""

from contextlib import closing
from pathlib import Path

from hotmem.store import users
from hotmem.store.driver import connect, mapped_errors
from hotmem.store.migrations import checked_version
from hotmem.store.turns import select
from hotmem.types import START_WEIGHTS, Layer, Turn, Weights


def turns(path: Path, user_id: str, most: int) -> tuple[list[Turn], int, Weights]:
    """The user's latest turns in the order they were stored, how many there are in all, and the layer weights. Blocking.

    Args:
        path: The file; others may write to it meanwhile.
        user_id: Whose turns; an unknown user has none.
        most: Turns at most.

    Raises:
        StoreError: If the file cannot be used.
    """
    with mapped_errors(path), closing(connect(path, read_only=True)) as conn:
        conn.execute("BEGIN")
        user = users.find(conn, user_id) if checked_version(conn, path) else None
        if user is None:
            return [], 0, START_WEIGHTS
        latest = [turn for _, turn in select(conn, "t.user = ? ORDER BY t.id DESC LIMIT ?", (user, most))]
        count = conn.execute("SELECT count(*) FROM turns WHERE user = ?", (user,)).fetchone()[0]
        weights = conn.execute("SELECT layer, weight FROM weights WHERE user = ?", (user,))
        return latest[::-1], count, Weights.from_dict({Layer(layer): weight for layer, weight in weights})
