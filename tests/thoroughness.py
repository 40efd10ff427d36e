"""How many examples costly properties are tried with."""

whole = False
"""Whether all of them are: with `--all` and `--full`."""


def examples(count: int) -> int:
    """All of this number, or a quarter in a run that every push needs."""
    return count if whole else max(2, count // 4)
