"""Search over one user's rows, in Python and independent of the engine.

BM25, vectors, token signs.
"""
