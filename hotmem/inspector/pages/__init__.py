"""The pages, each part in a module of its own. They read; `hotmem.inspector.changes` writes."""
