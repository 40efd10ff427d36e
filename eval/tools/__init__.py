"""The memory tools measured on statements that we wrote: where they are filed, which say the same.

`topics.tsv` is written ahead of what will read it: statements by what they belong to.
"""
