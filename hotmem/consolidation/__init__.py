"""Background consolidation: summaries, subcategories, supersession and tag merging."""
