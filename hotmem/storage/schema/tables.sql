-- The tables of both engines, in SQLite's dialect, parents before children, one column a line.
-- The package reads them. The comment above a table is what people are told of its rows.
--
-- Times are microseconds since 1970-01-01 UTC. Row numbers are never used twice (AUTOINCREMENT): a
-- background job that was read for a row that is deleted meanwhile must not write to a later row,
-- least of all to another user's. A passage, memory or summary without a vector waits to be
-- embedded; `held` rows failed and are skipped until they are retried.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- the user
CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL UNIQUE,
    order_time INTEGER NOT NULL DEFAULT 0,
    speaker TEXT
);

-- conversations
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    public_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    touched_at INTEGER NOT NULL,
    summary_due INTEGER NOT NULL DEFAULT 0,
    passages INTEGER NOT NULL DEFAULT 0,
    order_time INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    sendable INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_key, public_id)
);
CREATE INDEX sessions_idle ON sessions (touched_at) WHERE summary_due = 1 AND held = 0;
CREATE INDEX sessions_due ON sessions (user_key, touched_at) WHERE summary_due = 2 AND held = 0;
CREATE INDEX sessions_sendable ON sessions (user_key) WHERE sendable = 1;

-- what was said, word for word
CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    public_id TEXT NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    text TEXT NOT NULL,
    spoken_at INTEGER NOT NULL,
    zone TEXT,
    import INTEGER,
    order_time INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_key, public_id)
);
CREATE INDEX turns_of_session ON turns (session);
CREATE INDEX turns_by_time ON turns (user_key, spoken_at);
CREATE INDEX turns_of_import ON turns (import) WHERE import IS NOT NULL;

-- names of who spoke
CREATE TABLE speakers (
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    name TEXT NOT NULL,
    import INTEGER,
    PRIMARY KEY (user_key, name)
) WITHOUT ROWID;

CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL,
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    vector BLOB,
    terms TEXT NOT NULL DEFAULT '',
    forms INTEGER NOT NULL DEFAULT 0,
    import INTEGER,
    held INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, position)
);
CREATE INDEX passages_of_turn ON passages (turn);
CREATE INDEX passages_waiting
    ON passages (import, user_key, id) WHERE vector IS NULL AND held = 0;
CREATE INDEX passages_unread ON passages (session) WHERE vector IS NULL AND held = 0;

-- what is known, and what no longer holds or went into another
CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    public_id TEXT NOT NULL,
    text TEXT NOT NULL,
    subject TEXT NOT NULL,
    relation TEXT NOT NULL,
    object TEXT NOT NULL,
    kind TEXT NOT NULL,
    category TEXT NOT NULL,
    category_percent INTEGER,
    importance INTEGER NOT NULL,
    hedged INTEGER NOT NULL,
    negated INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    single INTEGER NOT NULL,
    said_at INTEGER NOT NULL,
    valid_until INTEGER,
    superseded_by INTEGER REFERENCES memories ON DELETE SET NULL,
    amends INTEGER REFERENCES memories ON DELETE CASCADE,
    doubted_at INTEGER,
    doubted_by INTEGER REFERENCES memories ON DELETE SET NULL,
    doubted_in INTEGER REFERENCES turns ON DELETE SET NULL,
    confirmations INTEGER NOT NULL DEFAULT 0,
    accesses INTEGER NOT NULL DEFAULT 0,
    accessed_at INTEGER,
    vector BLOB,
    value TEXT NOT NULL DEFAULT '',
    stored_at INTEGER,
    source TEXT,
    note TEXT,
    merged_into INTEGER REFERENCES memories ON DELETE CASCADE,
    import INTEGER,
    order_time INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_key, public_id)
);
CREATE INDEX memories_superseding ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_amending ON memories (amends) WHERE amends IS NOT NULL;
CREATE INDEX memories_doubting ON memories (doubted_by) WHERE doubted_by IS NOT NULL;
CREATE INDEX memories_doubted_in ON memories (doubted_in) WHERE doubted_in IS NOT NULL;
CREATE INDEX memories_by_relation ON memories (user_key, relation, lower(subject), value);
CREATE INDEX memories_by_time ON memories (user_key, said_at);
CREATE INDEX memories_merged ON memories (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX memories_by_category ON memories (user_key, category) WHERE merged_into IS NULL;
CREATE INDEX memories_of_import ON memories (import) WHERE import IS NOT NULL;
CREATE INDEX memories_in_order ON memories (user_key, order_time);
CREATE INDEX memories_waiting
    ON memories (import, user_key, id) WHERE vector IS NULL AND held = 0;

-- from which words of which turns memories were read
CREATE TABLE sources (
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (memory, turn, start)
) WITHOUT ROWID;
CREATE INDEX sources_of_turn ON sources (turn);

-- people, places and things spoken of
CREATE TABLE entities (
    id INTEGER PRIMARY KEY,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    sound TEXT NOT NULL DEFAULT '',
    UNIQUE (user_key, key)
);
CREATE INDEX entities_in_order ON entities (user_key, id);

-- which turns speak of them
CREATE TABLE turn_entities (
    entity INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    PRIMARY KEY (entity, turn)
) WITHOUT ROWID;
CREATE INDEX turn_entities_of_turn ON turn_entities (turn);

-- which memories speak of them
CREATE TABLE memory_entities (
    entity INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    PRIMARY KEY (entity, memory)
) WITHOUT ROWID;
CREATE INDEX memory_entities_of_memory ON memory_entities (memory);

-- summaries of conversations
CREATE TABLE summaries (
    id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    user_key INTEGER NOT NULL,
    topics TEXT NOT NULL,
    text TEXT NOT NULL,
    vector BLOB,
    import INTEGER,
    through INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    tries INTEGER
);
CREATE INDEX summaries_to_send ON summaries (id) WHERE tries IS NOT NULL;
CREATE INDEX summaries_of_import ON summaries (import) WHERE import IS NOT NULL;
CREATE INDEX summaries_waiting
    ON summaries (import, user_key, id) WHERE vector IS NULL AND held = 0;

-- their sentences, with the turns these are from
CREATE TABLE summary_sentences (
    summary INTEGER NOT NULL REFERENCES summaries ON DELETE CASCADE,
    part TEXT NOT NULL,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    PRIMARY KEY (summary, part, place)
) WITHOUT ROWID;
CREATE INDEX summary_sentences_of_turn ON summary_sentences (turn);

-- turns that wait to be understood
CREATE TABLE pending_turns (
    turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    import INTEGER,
    user_key INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX pending_turns_following ON pending_turns (import, user_key, turn) WHERE held = 0;
CREATE INDEX pending_turns_of_user ON pending_turns (user_key);

-- turns that wait to be sent to a language model
CREATE TABLE pending_extractions (
    turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    user_key INTEGER NOT NULL,
    session INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX pending_extractions_of_session ON pending_extractions (user_key, session, turn);

-- calls to a language model in the background
CREATE TABLE extraction_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    session INTEGER NOT NULL,
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    facts INTEGER NOT NULL DEFAULT 0,
    summaries INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX extraction_calls_of_session ON extraction_calls (user_key, session);
CREATE INDEX extraction_calls_by_time ON extraction_calls (at);

-- what was asked of the memory, and what a reply to it was made of
CREATE TABLE recalls (
    id INTEGER PRIMARY KEY,
    public_id TEXT NOT NULL,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    session TEXT,
    query TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    ms REAL NOT NULL,
    interrupted INTEGER NOT NULL,
    UNIQUE (user_key, public_id)
);
CREATE INDEX recalls_of_user ON recalls (user_key, asked_at);

-- what was given for it, and how the reply used it
CREATE TABLE recall_items (
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

-- how much each layer of the memory counts
CREATE TABLE weights (
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    layer TEXT NOT NULL,
    weight REAL NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_key, layer)
) WITHOUT ROWID;

CREATE TABLE index_revisions (
    user_key INTEGER,
    kind TEXT,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_key, kind)
) WITHOUT ROWID;

-- each: passage passages, memory memories, summary summaries
CREATE TABLE {kind}_entries (
    user_key INTEGER,
    id INTEGER,
    session INTEGER NOT NULL,
    length INTEGER NOT NULL,
    bits BLOB,
    PRIMARY KEY (user_key, id)
) WITHOUT ROWID;

-- end

-- each: passage passages, memory memories
CREATE TABLE {kind}_signs (
    {kind} INTEGER PRIMARY KEY REFERENCES {rows} ON DELETE CASCADE,
    width INTEGER NOT NULL,
    signs BLOB NOT NULL
);

-- end

-- words that memories are filed under
CREATE TABLE tags (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    archived INTEGER NOT NULL DEFAULT 0,
    merged_into INTEGER REFERENCES tags ON DELETE SET NULL,
    vector BLOB,
    UNIQUE (user_key, name)
);
CREATE INDEX tags_by_key ON tags (user_key, key);
CREATE INDEX tags_merged ON tags (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX tags_in_use
    ON tags (user_key, used_at DESC, name)
    WHERE archived = 0 AND merged_into IS NULL AND vector IS NOT NULL;

-- which memories are
CREATE TABLE memory_tags (
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    tag INTEGER NOT NULL REFERENCES tags ON DELETE CASCADE,
    found INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (memory, tag)
) WITHOUT ROWID;
CREATE INDEX memory_tags_of_tag ON memory_tags (tag);

-- what was decided about memories, and why
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    public_id TEXT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    undone_at INTEGER,
    changes TEXT,
    undoes INTEGER REFERENCES decisions ON DELETE CASCADE,
    UNIQUE (user_key, public_id)
);
CREATE INDEX decisions_of_user ON decisions (user_key, decided_at);
CREATE INDEX decisions_undoing ON decisions (undoes) WHERE undoes IS NOT NULL;

-- which memories that was about
CREATE TABLE decision_memories (
    decision INTEGER NOT NULL REFERENCES decisions ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    into_memory INTEGER REFERENCES memories ON DELETE CASCADE,
    PRIMARY KEY (decision, memory)
) WITHOUT ROWID;
CREATE INDEX decision_memories_memory ON decision_memories (memory);
CREATE INDEX decision_memories_into
    ON decision_memories (into_memory) WHERE into_memory IS NOT NULL;

-- which tags that was about
CREATE TABLE decision_tags (
    decision INTEGER NOT NULL REFERENCES decisions ON DELETE CASCADE,
    tag INTEGER NOT NULL REFERENCES tags ON DELETE CASCADE,
    into_tag INTEGER REFERENCES tags ON DELETE CASCADE,
    PRIMARY KEY (decision, tag)
) WITHOUT ROWID;
CREATE INDEX decision_tags_tag ON decision_tags (tag);
CREATE INDEX decision_tags_into ON decision_tags (into_tag) WHERE into_tag IS NOT NULL;

-- times of the events that turns mention
CREATE TABLE event_times (
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    user_key INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (turn, start)
) WITHOUT ROWID;
CREATE INDEX event_times_by_time ON event_times (user_key, since);

-- when subcategories were found
CREATE TABLE evolutions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    category TEXT NOT NULL,
    state TEXT NOT NULL,
    evolved_at INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    decision INTEGER REFERENCES decisions ON DELETE SET NULL,
    import INTEGER,
    centre BLOB
);
CREATE INDEX evolutions_of_user ON evolutions (user_key, category, state);
CREATE INDEX evolutions_decided ON evolutions (decision) WHERE decision IS NOT NULL;

-- subcategories
CREATE TABLE subcategories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    evolution INTEGER NOT NULL REFERENCES evolutions ON DELETE CASCADE,
    name TEXT NOT NULL,
    keywords TEXT NOT NULL,
    examples TEXT NOT NULL,
    since INTEGER NOT NULL,
    centroid BLOB,
    pinned INTEGER NOT NULL DEFAULT 0,
    UNIQUE (evolution, name)
);

-- which memories are in them
CREATE TABLE subcategory_members (
    subcategory INTEGER NOT NULL REFERENCES subcategories ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    PRIMARY KEY (subcategory, memory)
) WITHOUT ROWID;
CREATE INDEX subcategory_members_of_memory ON subcategory_members (memory);

-- how much of what was given was used, by day
CREATE TABLE quality (
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    day TEXT NOT NULL,
    intent TEXT NOT NULL,
    layer TEXT NOT NULL,
    turns INTEGER NOT NULL,
    given INTEGER NOT NULL,
    used INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    wasted INTEGER NOT NULL,
    helped INTEGER NOT NULL,
    empty INTEGER NOT NULL,
    late INTEGER NOT NULL,
    latencies TEXT NOT NULL,
    PRIMARY KEY (user_key, day, intent, layer)
) WITHOUT ROWID;

-- how much more or less it counts by the kind of question
CREATE TABLE intent_weights (
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    intent TEXT NOT NULL,
    moved TEXT NOT NULL,
    PRIMARY KEY (user_key, intent)
) WITHOUT ROWID;

-- what that is learnt from
CREATE TABLE learning_state (
    user_key INTEGER PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
);

-- how that changed
CREATE TABLE weight_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    version INTEGER NOT NULL,
    learnt_at INTEGER NOT NULL,
    weights TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX weight_history_of_user ON weight_history (user_key, id);

-- how often what turns say was corrected
CREATE TABLE correction_counts (
    turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    times INTEGER NOT NULL
);

-- what was imported
CREATE TABLE imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    source TEXT NOT NULL,
    state TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    new_user INTEGER NOT NULL,
    records INTEGER NOT NULL DEFAULT 0,
    turns INTEGER NOT NULL DEFAULT 0,
    memories INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL DEFAULT 0,
    others INTEGER NOT NULL DEFAULT 0,
    decision INTEGER REFERENCES decisions ON DELETE SET NULL,
    forgotten INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX imports_of_user ON imports (user_key);
CREATE INDEX imports_of_source ON imports (source, user_key);
CREATE INDEX imports_decided ON imports (decision) WHERE decision IS NOT NULL;

-- what imports changed
CREATE TABLE import_changes (
    import INTEGER NOT NULL REFERENCES imports ON DELETE CASCADE,
    what TEXT NOT NULL,
    key TEXT NOT NULL,
    before TEXT NOT NULL,
    PRIMARY KEY (import, what, key)
) WITHOUT ROWID;

-- what their topics weigh
CREATE TABLE summary_topics (
    summary INTEGER NOT NULL REFERENCES summaries ON DELETE CASCADE,
    name TEXT NOT NULL,
    written TEXT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (summary, name)
) WITHOUT ROWID;

-- work that failed
CREATE TABLE failures (
    kind TEXT NOT NULL,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    key TEXT NOT NULL,
    tries INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_at INTEGER NOT NULL,
    again_at INTEGER,
    PRIMARY KEY (kind, key, user_key)
) WITHOUT ROWID;
CREATE INDEX failures_of_user ON failures (user_key);
CREATE INDEX failures_following ON failures (again_at, failed_at);

-- who looked at the memory, changed it or took something out of it
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER REFERENCES users ON DELETE CASCADE,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    what TEXT NOT NULL,
    turns INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    sessions INTEGER NOT NULL
);
CREATE INDEX audit_of_user ON audit (user_key, at);
CREATE INDEX audit_by_time ON audit (at);

CREATE TABLE tombstones (
    mark BLOB PRIMARY KEY
) WITHOUT ROWID;

-- what was forgotten and can still be brought back, until when
CREATE TABLE deletions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    asked_at INTEGER NOT NULL,
    erase_at INTEGER NOT NULL,
    counts TEXT NOT NULL,
    encoder TEXT
);
CREATE INDEX deletions_of_user ON deletions (user_key, id);
CREATE INDEX deletions_by_time ON deletions (erase_at);

CREATE TABLE deleted_rows (
    deletion INTEGER NOT NULL REFERENCES deletions ON DELETE CASCADE,
    place INTEGER NOT NULL,
    relation TEXT NOT NULL,
    before TEXT,
    after TEXT,
    PRIMARY KEY (deletion, place)
) WITHOUT ROWID;

CREATE TABLE leases (
    kind TEXT NOT NULL,
    user_key INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    owner TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, user_key)
) WITHOUT ROWID;
CREATE INDEX leases_of_user ON leases (user_key);
CREATE INDEX leases_of_owner ON leases (owner, kind);

CREATE TABLE former_vectors (
    kind TEXT PRIMARY KEY,
    encoder TEXT NOT NULL,
    upto INTEGER NOT NULL
) WITHOUT ROWID;
