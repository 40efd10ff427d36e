"""The turn encoder by itself.

How well its own score ranks turns, and the training of its last layers and of a projection for its
codes.

talks ─▶ training ─▶ model ─▶ material ─▶ ranking
                         └──▶ pipeline
"""
