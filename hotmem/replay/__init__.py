"""Recorded sessions of one's own, replayed offline.

Which settings would have served this user's bot better?

    a memory file ─▶ recording ─▶ sampling ─▶ replaying, setting by setting ─▶ scoring ─▶ comparison ─▶ table, report

The file is only read. Its turns are remembered anew, session by session, in a temporary file.
Before each user's turn that the bot replied to, every setting is asked for its block, so that none
finds what was said later; the reply that was really given judges the blocks.
"""
