"""The session-start block: what the language model gets without asking, when a session starts.

    loading       the user's instructions, facts, plans and open loops, from the store
        ▼
    instructions · names · plans · lasting_facts · open_loops      which of them become lines
        ▼
    composition   as many lines as fit the token budget, the most important first
        ▼
    rendering     the lines in reading order, under their headings

Standing instructions come first. They are the only part of a memory that the language model is to
follow, and only in how it speaks to the user.
"""

from hotmem.session_start.composition import compose_session_start
from hotmem.session_start.material import SessionStartRequest

__all__ = ["SessionStartRequest", "compose_session_start"]
