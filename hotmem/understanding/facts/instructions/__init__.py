"""Standing instructions: what the user wants of the bot from now on, not once.

`extraction` finds them by the trained model in `wish_model`; `safety` rejects those that a bot must
not follow; `topics` and `withdrawals` tell which earlier one a new one replaces or revokes.
"""

from hotmem.understanding.facts.instructions.extraction import (
    find_instructions,
    is_instruction,
    is_setting,
    read_instructions,
)

__all__ = ["find_instructions", "is_instruction", "is_setting", "read_instructions"]
