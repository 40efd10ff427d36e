"""Learning from use, measured.

What replies made of items, and whether what is learnt from it helps on conversations not learnt
from.
"""
