"""Building blocks that know nothing of memory.

Threads with event loops, priorities, deadlines, matrix products.
"""
