"""The memory tools on handwritten statements: classification, equivalence, evolution, tags."""
