"""The SQLite engine: connection, database, schema and migrations."""
