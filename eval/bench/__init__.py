"""Measures of speed."""
