"""Fact extraction: one turn → `Understanding`, by rules over dependency parses.

Read `pipeline` first. RELATIONS.md lists the relations with an example each.
"""

from hotmem.understanding.facts.pipeline import extract_facts, extract_from_parse

__all__ = ["extract_facts", "extract_from_parse"]
