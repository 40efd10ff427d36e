"""Learning from use: what a reply made of a block, and what that teaches the layer weights."""
