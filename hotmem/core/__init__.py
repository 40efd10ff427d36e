"""General building blocks: threads, priorities, timers, matrix products, files, logging."""

__version__ = "0.2.0"
"""Version of the package; modules that must not import `hotmem` itself read it here."""
