"""Version of the package; modules that must not import `hotmem` itself read it here."""

__version__ = "0.2.0"
