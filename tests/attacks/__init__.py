"""Cases that were written to break something, by those who did not write it."""
