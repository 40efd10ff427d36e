"""Utterance → candidates: the query, the layers that are searched, and the fusion of their hits."""
