"""People, places and things that turns and memories mention."""

import re
from collections.abc import Sequence

from hotmem.storage.database import Connection
from hotmem.text.phonetics import encode_sounds
from hotmem.types import UserKey


def ensure(conn: Connection, user: UserKey, names: Sequence[str]) -> list[int]:
    """Row numbers of the entities with these names, whatever their case; new ones are made."""
    keys = []
    for name in names:
        shown = re.sub(r"\s+", " ", name).strip()
        conn.execute(
            """INSERT INTO entities (user_key, key, name, sound) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING""",
            (user, shown.casefold(), shown, encode_sounds(shown)),
        )
        keys.append(
            conn.execute(
                "SELECT id FROM entities WHERE user_key = ? AND key = ?", (user, shown.casefold())
            ).fetchone()[0]
        )
    return keys
