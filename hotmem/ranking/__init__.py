"""Candidates → ranked candidates: features, relevance, confidence, answerability, order.

Pure functions: everything they need is passed in.
"""
