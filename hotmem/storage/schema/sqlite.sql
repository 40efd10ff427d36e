-- Full-text indexes and triggers of SQLite.

-- each: passage passages, memory memories
CREATE VIRTUAL TABLE {kind}_words USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
INSERT INTO {kind}_words ({kind}_words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER {rows}_gone AFTER DELETE ON {rows} BEGIN
    DELETE FROM {kind}_entries WHERE user_key = old.user_key AND id = old.id;
    DELETE FROM {kind}_words WHERE rowid = old.id;
END;

-- end

-- each: passage passages, memory memories, summary summaries
CREATE TRIGGER {kind}_entry_gone AFTER DELETE ON {kind}_entries BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, '{kind}', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER {kind}_entry_late AFTER INSERT ON {kind}_entries
WHEN EXISTS (SELECT 1 FROM {kind}_entries WHERE user_key = new.user_key AND id > new.id) BEGIN
    INSERT INTO index_revisions VALUES (new.user_key, '{kind}', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER {kind}_entry_changed AFTER UPDATE OF bits ON {kind}_entries
WHEN old.bits IS NOT NULL
    AND old.id > coalesce((SELECT upto FROM former_vectors WHERE kind = '{kind}'), 0) BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, '{kind}', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER {kind}_embedded AFTER UPDATE OF vector ON {rows} WHEN new.vector NOT NULL BEGIN
    DELETE FROM failures WHERE kind = '{kind}' AND key = CAST(old.id AS TEXT);
END;

-- end

-- each: passage passages, memory memories, summary summaries, session sessions, import imports
CREATE TRIGGER {kind}_failure_gone AFTER DELETE ON {rows} BEGIN
    DELETE FROM failures WHERE kind = '{kind}' AND key = CAST(old.id AS TEXT);
END;

-- end

CREATE TRIGGER summaries_gone AFTER DELETE ON summaries BEGIN
    DELETE FROM summary_entries WHERE user_key = old.user_key AND id = old.id;
END;

CREATE TRIGGER turn_failure_gone AFTER DELETE ON pending_turns BEGIN
    DELETE FROM failures WHERE kind = 'turn' AND key = CAST(old.turn AS TEXT);
END;

CREATE TRIGGER session_summarised AFTER UPDATE OF summary_due ON sessions
WHEN new.summary_due = 0 BEGIN
    DELETE FROM failures WHERE kind = 'session' AND key = CAST(old.id AS TEXT);
END;

INSERT INTO meta (key, value) VALUES ('evolution', unixepoch());
