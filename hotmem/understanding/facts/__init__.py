"""Fact extraction by rules: one turn → its names, wishes to the bot, reminders and corrections.

Read `pipeline` first. All else that is worth remembering, the reader finds (`kept_sentences`).
"""

from hotmem.understanding.facts.pipeline import extract_facts, extract_from_parse

__all__ = ["extract_facts", "extract_from_parse"]
