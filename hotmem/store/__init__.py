"""The memory file: schema, SQL and the operations the paths need."""
