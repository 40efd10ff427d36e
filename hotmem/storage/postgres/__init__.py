"""The PostgreSQL engine: connection, database, schema and migrations."""
