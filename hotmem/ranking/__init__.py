"""Candidates → scored candidates: features, relevance, confidence, answerability.

Pure functions.
"""
