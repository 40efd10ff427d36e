"""Counts in words, for people."""


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: "1 turn", "1,200 memories".

    Args:
        count: How many.
        singular: Noun for one, with any words that follow it.
        plural: Noun for any other number; None adds an s to the singular.
    """
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"
