"""The memory tools measured on statements that we wrote: where they are filed, which say the same.

Two files are written ahead of what will read them: `topics.tsv`, statements by what they belong to, and `usage.tsv`, what replies made of an item.
"""
