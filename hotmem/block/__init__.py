"""Ranked candidates → context block: packing within the token budget, trimming, rendering."""
