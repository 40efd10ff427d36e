"""Version 12: what is learnt of the layer weights, and how often what a turn says was corrected.

Of the weights there is where users begin, how far intents move them, the state of the learner, and
what they were after each reply. Weights that an older rule learnt are kept as the first entry of
their history and learning begins anew: they led away from the evidence.
"""

from hotmem.storage.sqlite.connection import Connection

STATEMENTS = (
    "CREATE TABLE shared_weights (layer TEXT PRIMARY KEY, weight REAL NOT NULL) WITHOUT ROWID",
    """CREATE TABLE intent_weights (
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        intent TEXT NOT NULL,
        moved TEXT NOT NULL,
        PRIMARY KEY (user, intent)
    ) WITHOUT ROWID""",
    "CREATE TABLE learning (user INTEGER PRIMARY KEY REFERENCES users ON DELETE CASCADE, version INTEGER NOT NULL, state TEXT NOT NULL)",
    """CREATE TABLE weight_history (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
        version INTEGER NOT NULL,
        learnt_at INTEGER NOT NULL,
        weights TEXT NOT NULL,
        reason TEXT NOT NULL
    )""",
    "CREATE INDEX weight_history_of_user ON weight_history (user, id)",
    """INSERT INTO weight_history (user, version, learnt_at, weights, reason)
       SELECT user, 0, max(updated_at), json_group_object(layer, weight), 'an older rule' FROM weights GROUP BY user""",
    "DELETE FROM weights",
    """CREATE TABLE doubts (
        turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
        times INTEGER NOT NULL
    )""",
)


def apply(conn: Connection) -> None:
    """Adds the tables."""
    for statement in STATEMENTS:
        conn.execute(statement)
