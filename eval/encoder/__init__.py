"""The turn encoder by itself: how well its own score ranks turns, and the training of what is learnt on top of the published model.

material ─▶ training ─▶ projection
material ─▶ ranking
"""
