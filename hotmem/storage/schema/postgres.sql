-- Functions, full-text indexes, triggers and policies of PostgreSQL.

CREATE FUNCTION current_user_key() RETURNS BIGINT LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('hotmem.user', true), '')::BIGINT;

CREATE FUNCTION may_read(key BIGINT) RETURNS BOOLEAN LANGUAGE sql STABLE PARALLEL SAFE
    RETURN key = nullif(current_setting('hotmem.user', true), '')::BIGINT OR key = 0
        OR current_setting('hotmem.scope', true) = 'all';

CREATE FUNCTION json_each(list TEXT) RETURNS TABLE (key BIGINT, value TEXT)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT e.place - 1, e.element
    FROM pg_catalog.json_array_elements_text(list::JSON) WITH ORDINALITY AS e (element, place)
$$;

CREATE FUNCTION to_json_text(list ANYARRAY) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT coalesce(array_to_json(list)::TEXT, '[]') $$;

CREATE FUNCTION substr(text TEXT, start BIGINT, length BIGINT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN pg_catalog.substr(text, start::INTEGER, length::INTEGER);

CREATE AGGREGATE json_group_array(BIGINT) (
    SFUNC = array_append, STYPE = BIGINT[], FINALFUNC = to_json_text, INITCOND = '{}'
);

CREATE AGGREGATE json_group_array(TEXT) (
    SFUNC = array_append, STYPE = TEXT[], FINALFUNC = to_json_text, INITCOND = '{}'
);

-- [tables]

INSERT INTO meta (key, value) VALUES ('evolution', extract(epoch FROM now())::BIGINT::TEXT);

-- Full-text indexes: the terms of each row, and the rows of each term in blocks of 256.

CREATE TABLE posting_counts (
    user_key BIGINT NOT NULL REFERENCES users ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL,
    entries BIGINT NOT NULL,
    PRIMARY KEY (user_key, kind)
) WITH (fillfactor = 50);

-- each: passage passages, memory memories
CREATE TABLE {kind}_words (
    id BIGINT NOT NULL,
    user_key BIGINT NOT NULL REFERENCES users ON DELETE CASCADE,
    block BIGINT NOT NULL,
    terms TEXT[] COLLATE "C" NOT NULL,
    PRIMARY KEY (id, user_key)
);

CREATE TABLE {kind}_postings (
    user_key BIGINT NOT NULL REFERENCES users ON DELETE CASCADE,
    term TEXT COLLATE "C" NOT NULL,
    block BIGINT NOT NULL,
    last_id BIGINT NOT NULL,
    ids BIGINT[] NOT NULL,
    PRIMARY KEY (user_key, term, block)
) WITH (fillfactor = 70);

-- end

CREATE FUNCTION remove_postings() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    postings TEXT := replace(TG_TABLE_NAME, '_words', '_postings');
BEGIN
    EXECUTE format('UPDATE %I SET ids = array_remove(ids, $1)
        WHERE user_key = $2 AND term = ANY($3) AND block = $4', postings)
        USING OLD.id, OLD.user_key, OLD.terms, OLD.block;
    EXECUTE format('DELETE FROM %I WHERE user_key = $1 AND term = ANY($2) AND block = $3
        AND cardinality(ids) = 0', postings)
        USING OLD.user_key, OLD.terms, OLD.block;
    RETURN NULL;
END
$$;

-- each: passage passages, memory memories
CREATE TRIGGER words_gone AFTER DELETE ON {kind}_words
    FOR EACH ROW EXECUTE FUNCTION remove_postings();
-- end

-- The revision of a user's index changes whenever more is needed than reading the entries after
-- the last one known.

CREATE FUNCTION change_revision() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    changed TEXT := replace(TG_TABLE_NAME, '_entries', '');
    later BOOLEAN;
BEGIN
    IF TG_OP = 'INSERT' THEN
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE user_key = $1 AND id > $2)',
            TG_TABLE_NAME) INTO later USING NEW.user_key, NEW.id;
        IF NOT later THEN
            RETURN NULL;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF OLD.id <= coalesce((SELECT upto FROM former_vectors WHERE kind = changed), 0) THEN
            RETURN NULL;
        END IF;
    END IF;
    INSERT INTO index_revisions AS r (user_key, kind, number)
        VALUES (CASE TG_OP WHEN 'INSERT' THEN NEW.user_key ELSE OLD.user_key END, changed, 1)
        ON CONFLICT (user_key, kind) DO UPDATE SET number = r.number + 1;
    RETURN NULL;
END
$$;

-- What belongs to a row that is deleted, and the failures of jobs that are done.

CREATE FUNCTION remove_entry() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DELETE FROM %I WHERE user_key = $1 AND id = $2', TG_ARGV[0] || '_entries')
        USING OLD.user_key, OLD.id;
    IF TG_ARGV[0] <> 'summary' THEN
        EXECUTE format('DELETE FROM %I WHERE user_key = $1 AND id = $2', TG_ARGV[0] || '_words')
            USING OLD.user_key, OLD.id;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION remove_failure() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM failures
        WHERE kind = TG_ARGV[0] AND key = OLD.id::TEXT AND user_key = OLD.user_key;
    RETURN NULL;
END
$$;

CREATE FUNCTION remove_turn_failure() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM failures WHERE kind = 'turn' AND key = OLD.turn::TEXT AND user_key = OLD.user_key;
    RETURN NULL;
END
$$;

-- each: passage passages, memory memories, summary summaries
CREATE TRIGGER entry_gone AFTER INSERT OR DELETE ON {kind}_entries
    FOR EACH ROW EXECUTE FUNCTION change_revision();
CREATE TRIGGER entry_changed AFTER UPDATE OF bits ON {kind}_entries
    FOR EACH ROW WHEN (OLD.bits IS NOT NULL) EXECUTE FUNCTION change_revision();
CREATE TRIGGER row_gone AFTER DELETE ON {rows}
    FOR EACH ROW EXECUTE FUNCTION remove_entry('{kind}');
CREATE TRIGGER failure_gone AFTER DELETE ON {rows}
    FOR EACH ROW EXECUTE FUNCTION remove_failure('{kind}');
CREATE TRIGGER embedded AFTER UPDATE OF vector ON {rows}
    FOR EACH ROW WHEN (NEW.vector IS NOT NULL) EXECUTE FUNCTION remove_failure('{kind}');
-- end

CREATE TRIGGER failure_gone AFTER DELETE ON pending_turns
    FOR EACH ROW EXECUTE FUNCTION remove_turn_failure();
CREATE TRIGGER failure_gone AFTER DELETE ON sessions
    FOR EACH ROW EXECUTE FUNCTION remove_failure('session');
CREATE TRIGGER failure_gone AFTER DELETE ON imports
    FOR EACH ROW EXECUTE FUNCTION remove_failure('import');
CREATE TRIGGER summarised AFTER UPDATE OF summary_due ON sessions
    FOR EACH ROW WHEN (NEW.summary_due = 0) EXECUTE FUNCTION remove_failure('session');

-- Changes of rows, collected while hotmem.recording is on; deletions that can be restored need it.

CREATE TABLE row_changes (
    place BIGINT GENERATED BY DEFAULT AS IDENTITY,
    user_key BIGINT NOT NULL DEFAULT current_user_key(),
    relation TEXT COLLATE "C" NOT NULL,
    before JSON,
    after JSON,
    PRIMARY KEY (place, user_key)
);

CREATE FUNCTION record_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO row_changes (relation, before, after) VALUES (
        TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN NULL ELSE to_json(OLD) END,
        CASE TG_OP WHEN 'DELETE' THEN NULL ELSE to_json(NEW) END
    );
    RETURN NULL;
END
$$;

DO $$
DECLARE
    relation TEXT;
BEGIN
    FOR relation IN SELECT table_name FROM information_schema.tables
            WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
                AND table_name <> 'row_changes' LOOP
        EXECUTE format('CREATE TRIGGER recorded AFTER INSERT OR UPDATE OR DELETE ON %I
            FOR EACH ROW WHEN (current_setting(''hotmem.recording'', true) = ''on'')
            EXECUTE FUNCTION record_change()', relation);
    END LOOP;
END
$$;

-- Row level security: a transaction sees the rows of its user, or all with hotmem.scope = 'all'.

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON users USING (may_read(id));

DO $$
DECLARE
    relation TEXT;
BEGIN
    FOR relation IN SELECT table_name FROM information_schema.columns
            WHERE table_schema = current_schema() AND column_name = 'user_key' LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', relation);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', relation);
        EXECUTE format('CREATE POLICY own_rows ON %I USING (may_read(user_key))', relation);
    END LOOP;
END
$$;

-- What was done to a user who has been erased since is on record without the user.
ALTER POLICY own_rows ON audit WITH CHECK (may_read(user_key) OR user_key IS NULL);
