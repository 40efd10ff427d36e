"""Short programs to copy; README.md lists them. None needs the others."""
