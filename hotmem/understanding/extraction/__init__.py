"""Fact extraction by a language model: turns → prompt, answer → facts that the turns support.

`prompt` writes what is sent, `proposals` reads what comes back, and `grounding` keeps of it what
the words of a turn support. Nothing here calls a model.
"""

from hotmem.understanding.extraction.grounding import Grounding, ground
from hotmem.understanding.extraction.proposals import Proposal, read_proposals, write_prompt

__all__ = ["Grounding", "Proposal", "ground", "read_proposals", "write_prompt"]
