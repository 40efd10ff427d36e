"""The turn encoder on its own: ranking quality, and training of its last layers and projection.

talks ─▶ training ─▶ model ─▶ material ─▶ ranking
                             └──▶ pipeline
"""
