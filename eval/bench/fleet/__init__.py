"""A fleet of bots and workers on one PostgreSQL server, with kills and a restart."""
