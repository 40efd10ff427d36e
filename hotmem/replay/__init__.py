"""Offline comparison of settings on a user's own sessions (`hotmem eval`).

    memory file ─▶ recording ─▶ sampling ─▶ replaying ─▶ scoring ─▶ comparison ─▶ table, report

The memory file is only read. Its turns are stored again, session by session, in a temporary file.
Before each user turn with a reply, every setting makes its context block, so that no later turn is
available. The recorded reply then decides which items of each block were useful.
"""
