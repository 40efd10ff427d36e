-- Roles of a database of HotMem. Run it once in the new database, as its administrator:
--
--     createdb --encoding=UTF8 --template=template0 hotmem
--     psql -d hotmem -f deploy/roles.sql
--     psql -d hotmem -c '\password hotmem_owner' -c '\password hotmem_bot'
--     hotmem migrate postgresql://hotmem_owner@host/hotmem
--
-- hotmem_owner owns the schema, for `hotmem migrate` only. hotmem_app has the rights of bots and
-- workers and cannot log in; hotmem_bot, which can, is a member. Row level security applies to all
-- three. Running it again changes nothing.

DO $$
BEGIN
    IF to_regrole('hotmem_owner') IS NULL THEN
        CREATE ROLE hotmem_owner LOGIN;
    END IF;
    IF to_regrole('hotmem_app') IS NULL THEN
        CREATE ROLE hotmem_app NOLOGIN;
    END IF;
    IF to_regrole('hotmem_bot') IS NULL THEN
        CREATE ROLE hotmem_bot LOGIN;
    END IF;
END
$$;

GRANT hotmem_app TO hotmem_bot;

-- An administrator that is no superuser, as of managed services, acts for the owner below.
GRANT hotmem_owner TO CURRENT_USER;

CREATE SCHEMA IF NOT EXISTS hotmem AUTHORIZATION hotmem_owner;
GRANT USAGE ON SCHEMA hotmem TO hotmem_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hotmem TO hotmem_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA hotmem TO hotmem_app;

-- What later migrations create.
ALTER DEFAULT PRIVILEGES FOR ROLE hotmem_owner IN SCHEMA hotmem
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO hotmem_app;
ALTER DEFAULT PRIVILEGES FOR ROLE hotmem_owner IN SCHEMA hotmem
    GRANT USAGE, SELECT ON SEQUENCES TO hotmem_app;

REVOKE hotmem_owner FROM CURRENT_USER;

-- A runaway statement ends; recalls and migrations set limits of their own.
ALTER ROLE hotmem_bot SET idle_in_transaction_session_timeout = '60s';
