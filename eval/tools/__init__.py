"""The memory tools measured on statements that we wrote: where they are filed, which say the same, what belongs together."""
