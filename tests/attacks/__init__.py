"""Attack cases, written by people who had not read the code."""
