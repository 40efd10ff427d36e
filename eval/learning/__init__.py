"""Learning from usage: usage detection, and whether learnt weights help on other conversations."""
