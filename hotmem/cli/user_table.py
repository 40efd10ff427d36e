"""The table of `hotmem users`."""

from collections.abc import Iterable

from rich.table import Column, Table

from hotmem.cli.tables import NO_VALUE
from hotmem.types.maintenance import UserSummary


def user_table(users: Iterable[UserSummary]) -> Table:
    """Return a table of users; their IDs are not shortened."""
    table = Table(Column("user", overflow="fold"), "turns", "memories", "last turn")
    for one in users:
        last = NO_VALUE if one.last_said is None else one.last_said.date().isoformat()
        table.add_row(one.user_id, f"{one.turns:,}", f"{one.memories:,}", last)
    return table
