"""Background consolidation.

Summaries, clustering of memories, supersession and equivalence of statements.
"""
