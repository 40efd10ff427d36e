-- Full-text indexes and triggers of SQLite.

CREATE VIRTUAL TABLE passage_words USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
INSERT INTO passage_words (passage_words, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE memory_words USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER passage_entry_gone AFTER DELETE ON passage_entries BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, 'passage', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER passage_entry_late AFTER INSERT ON passage_entries
WHEN EXISTS (SELECT 1 FROM passage_entries WHERE user_key = new.user_key AND id > new.id) BEGIN
    INSERT INTO index_revisions VALUES (new.user_key, 'passage', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER passage_entry_changed AFTER UPDATE OF bits ON passage_entries
WHEN old.bits IS NOT NULL
    AND old.id > coalesce((SELECT upto FROM former_vectors WHERE kind = 'passage'), 0) BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, 'passage', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER passage_failure_gone AFTER DELETE ON passages BEGIN
    DELETE FROM failures WHERE kind = 'passage' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER passage_embedded AFTER UPDATE OF vector ON passages WHEN new.vector NOT NULL BEGIN
    DELETE FROM failures WHERE kind = 'passage' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER memory_entry_gone AFTER DELETE ON memory_entries BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, 'memory', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER memory_entry_late AFTER INSERT ON memory_entries
WHEN EXISTS (SELECT 1 FROM memory_entries WHERE user_key = new.user_key AND id > new.id) BEGIN
    INSERT INTO index_revisions VALUES (new.user_key, 'memory', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER memory_entry_changed AFTER UPDATE OF bits ON memory_entries
WHEN old.bits IS NOT NULL
    AND old.id > coalesce((SELECT upto FROM former_vectors WHERE kind = 'memory'), 0) BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, 'memory', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER memory_failure_gone AFTER DELETE ON memories BEGIN
    DELETE FROM failures WHERE kind = 'memory' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER memory_embedded AFTER UPDATE OF vector ON memories WHEN new.vector NOT NULL BEGIN
    DELETE FROM failures WHERE kind = 'memory' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER summary_entry_gone AFTER DELETE ON summary_entries BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, 'summary', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER summary_entry_late AFTER INSERT ON summary_entries
WHEN EXISTS (SELECT 1 FROM summary_entries WHERE user_key = new.user_key AND id > new.id) BEGIN
    INSERT INTO index_revisions VALUES (new.user_key, 'summary', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER summary_entry_changed AFTER UPDATE OF bits ON summary_entries
WHEN old.bits IS NOT NULL
    AND old.id > coalesce((SELECT upto FROM former_vectors WHERE kind = 'summary'), 0) BEGIN
    INSERT INTO index_revisions VALUES (old.user_key, 'summary', 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER summary_failure_gone AFTER DELETE ON summaries BEGIN
    DELETE FROM failures WHERE kind = 'summary' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER summary_embedded AFTER UPDATE OF vector ON summaries WHEN new.vector NOT NULL BEGIN
    DELETE FROM failures WHERE kind = 'summary' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER passages_gone AFTER DELETE ON passages BEGIN
    DELETE FROM passage_entries WHERE user_key = old.user_key AND id = old.id;
    DELETE FROM passage_words WHERE rowid = old.id;
END;

CREATE TRIGGER memories_gone AFTER DELETE ON memories BEGIN
    DELETE FROM memory_entries WHERE user_key = old.user_key AND id = old.id;
    DELETE FROM memory_words WHERE rowid = old.id;
END;

CREATE TRIGGER summaries_gone AFTER DELETE ON summaries BEGIN
    DELETE FROM summary_entries WHERE user_key = old.user_key AND id = old.id;
END;

CREATE TRIGGER turn_failure_gone AFTER DELETE ON pending_turns BEGIN
    DELETE FROM failures WHERE kind = 'turn' AND key = CAST(old.turn AS TEXT);
END;

CREATE TRIGGER session_failure_gone AFTER DELETE ON sessions BEGIN
    DELETE FROM failures WHERE kind = 'session' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER import_failure_gone AFTER DELETE ON imports BEGIN
    DELETE FROM failures WHERE kind = 'import' AND key = CAST(old.id AS TEXT);
END;

CREATE TRIGGER session_summarised AFTER UPDATE OF summary_due ON sessions
WHEN new.summary_due = 0 BEGIN
    DELETE FROM failures WHERE kind = 'session' AND key = CAST(old.id AS TEXT);
END;

INSERT INTO meta (key, value) VALUES ('evolution', unixepoch());
