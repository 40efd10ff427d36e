"""Answers of a language model from HotMem's block and from the baselines, judged by another."""
