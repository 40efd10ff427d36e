"""From hits to the block: fusion, relevance, confidence, packing, rendering. Pure functions."""
