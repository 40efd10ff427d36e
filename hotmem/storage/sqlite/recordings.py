"""Reads turns of a database file without writing to it or migrating its schema."""

from contextlib import closing
from pathlib import Path

from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import StoreUnusable
from hotmem.storage.queries import layer_weights, users
from hotmem.storage.queries.turns import select
from hotmem.storage.sqlite import migrations
from hotmem.storage.sqlite.connection import connect, mapped_errors
from hotmem.types import START_WEIGHTS, Turn, Weights


def turns(
    path: Path, user_id: str, most: int, key: EncryptionKey | None = None
) -> tuple[list[Turn], int, Weights]:
    """The user's latest turns in order, the number of all, and the layer weights. Blocking.

    Args:
        path: The file; others may write to it meanwhile.
        user_id: The user's id; an unknown user has no turns.
        most: Turns at most.
        key: Key of the file.

    Raises:
        StoreError: If the file cannot be used, or has an older schema.
    """
    with mapped_errors(path), closing(connect(path, key=key, read_only=True)) as conn:
        conn.execute("BEGIN")
        version = migrations.checked_version(conn, path)
        if 0 < version < len(migrations.STEPS):
            raise StoreUnusable(
                f"{path} has schema {version}, and {len(migrations.STEPS)} is read. Open "
                "it once with this HotMem, as `hotmem stats` does."
            )
        user = users.find(conn, user_id) if version else None
        if user is None:
            return [], 0, START_WEIGHTS
        latest = [
            turn
            for _, turn in select(conn, "t.user_key = ? ORDER BY t.id DESC LIMIT ?", (user, most))
        ]
        count = conn.execute("SELECT count(*) FROM turns WHERE user_key = ?", (user,)).fetchone()[0]
        return latest[::-1], count, layer_weights.weights(conn, user)
