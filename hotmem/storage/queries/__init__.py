"""Query functions: each takes a connection and runs SQL. They hold no state."""
