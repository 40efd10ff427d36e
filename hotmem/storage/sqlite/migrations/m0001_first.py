"""Version 1: users, sessions, turns, passages, memories, entities, summaries, their word indexes, use and pending work.

Times are microseconds since 1970 in UTC. A passage, memory or summary without a vector is waiting
to be embedded. The vector indexes are made by `hotmem.storage.search.vectors`, because their
dimension is the encoder's. Row numbers are never given twice (AUTOINCREMENT): work begun for a row
that is forgotten meanwhile must not end in a later one, still less in another user's. A corrected
memory keeps words of the one it amends, and goes with it.
"""

from hotmem.storage.sqlite.connection import Connection, complete_statement

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    touched_at INTEGER NOT NULL,
    summary_due INTEGER NOT NULL DEFAULT 0,
    passages INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user, name)
);
CREATE INDEX sessions_due ON sessions (summary_due, touched_at) WHERE summary_due > 0;

CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    text TEXT NOT NULL,
    spoken_at INTEGER NOT NULL,
    UNIQUE (user, name)
);
CREATE INDEX turns_of_session ON turns (session);
CREATE INDEX turns_by_time ON turns (user, spoken_at);

CREATE TABLE speakers (
    user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (user, name)
) WITHOUT ROWID;

CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL,
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    vector BLOB,
    UNIQUE (session, position)
);
CREATE INDEX passages_of_turn ON passages (turn);
CREATE INDEX passages_waiting ON passages (id) WHERE vector IS NULL;

CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    name TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    subject TEXT NOT NULL,
    relation TEXT NOT NULL,
    object TEXT NOT NULL,
    kind TEXT NOT NULL,
    category TEXT NOT NULL,
    importance INTEGER NOT NULL,
    hedged INTEGER NOT NULL,
    negated INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    single INTEGER NOT NULL,
    said_at INTEGER NOT NULL,
    valid_until INTEGER,
    superseded_by INTEGER REFERENCES memories ON DELETE SET NULL,
    amends INTEGER REFERENCES memories ON DELETE CASCADE,
    confirmations INTEGER NOT NULL DEFAULT 0,
    accesses INTEGER NOT NULL DEFAULT 0,
    accessed_at INTEGER,
    vector BLOB
);
CREATE INDEX memories_by_relation ON memories (user, relation, subject);
CREATE INDEX memories_superseding ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_amending ON memories (amends) WHERE amends IS NOT NULL;
CREATE INDEX memories_waiting ON memories (id) WHERE vector IS NULL;

CREATE TABLE sources (
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (memory, turn, start)
) WITHOUT ROWID;
CREATE INDEX sources_of_turn ON sources (turn);

CREATE TABLE entities (
    id INTEGER PRIMARY KEY,
    user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (user, key)
);
CREATE TABLE turn_entities (
    entity INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    PRIMARY KEY (entity, turn)
) WITHOUT ROWID;
CREATE INDEX turn_entities_of_turn ON turn_entities (turn);
CREATE TABLE memory_entities (
    entity INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    PRIMARY KEY (entity, memory)
) WITHOUT ROWID;
CREATE INDEX memory_entities_of_memory ON memory_entities (memory);

CREATE TABLE summaries (
    id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    user INTEGER NOT NULL,
    topics TEXT NOT NULL,
    text TEXT NOT NULL,
    vector BLOB
);
CREATE INDEX summaries_waiting ON summaries (id) WHERE vector IS NULL;
CREATE TABLE summary_sentences (
    summary INTEGER NOT NULL REFERENCES summaries ON DELETE CASCADE,
    part TEXT NOT NULL,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    PRIMARY KEY (summary, part, place)
) WITHOUT ROWID;
CREATE INDEX summary_sentences_of_turn ON summary_sentences (turn);

CREATE TABLE pending (
    turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    attempts INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE recalls (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    session TEXT,
    query TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    ms REAL NOT NULL,
    interrupted INTEGER NOT NULL
);
CREATE INDEX recalls_of_user ON recalls (user, asked_at);
CREATE TABLE uses (
    recall INTEGER NOT NULL REFERENCES recalls ON DELETE CASCADE,
    place INTEGER NOT NULL,
    layers TEXT NOT NULL,
    kind TEXT NOT NULL,
    strength REAL NOT NULL,
    relevance REAL NOT NULL,
    memory TEXT,
    turns TEXT NOT NULL,
    PRIMARY KEY (recall, place)
) WITHOUT ROWID;

CREATE TABLE weights (
    user INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    layer TEXT NOT NULL,
    weight REAL NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user, layer)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE passage_words USING fts5 (owner, text, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE memory_words USING fts5 (owner, text, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE summary_words USING fts5 (owner, text, said, tokenize = 'porter unicode61');
INSERT INTO passage_words (passage_words, rank) VALUES ('secure-delete', 1);
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
INSERT INTO summary_words (summary_words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER passages_words_gone AFTER DELETE ON passages BEGIN
    DELETE FROM passage_words WHERE rowid = old.id;
END;
CREATE TRIGGER memories_words_gone AFTER DELETE ON memories BEGIN
    DELETE FROM memory_words WHERE rowid = old.id;
END;
CREATE TRIGGER summaries_words_gone AFTER DELETE ON summaries BEGIN
    DELETE FROM summary_words WHERE rowid = old.id;
END;
"""


def apply(conn: Connection) -> None:
    """Creates the tables."""
    statement = ""
    for line in SCHEMA.splitlines(keepends=True):
        statement += line
        if complete_statement(statement):
            conn.execute(statement)
            statement = ""
