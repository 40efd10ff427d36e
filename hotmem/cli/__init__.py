"""The `hotmem` command line."""
