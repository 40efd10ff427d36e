"""Utterance → candidates: the query, the search of the layers, and the fusion of their hits."""
