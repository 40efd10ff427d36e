"""Row numbers that a SQLite file has given, also to rows that are deleted."""

from collections.abc import Mapping
from typing import Final

import apsw

REUSED: Final = ("entities", "recalls")
"""Tables that give the number of their last row again once it is deleted."""


class RowNumbers(apsw.Connection):
    """The part of a connection that knows which row numbers are used up."""

    def row_numbers(self) -> dict[str, int]:
        """The highest row number that each table has given, also to rows that are deleted."""
        last = " UNION ALL ".join(f"SELECT '{name}', max(id) FROM {name}" for name in REUSED)
        rows = self.execute(f"SELECT name, seq FROM sqlite_sequence UNION ALL {last}").fetchall()
        return {str(name): int(number or 0) for name, number in rows}

    def raise_row_numbers(self, numbers: Mapping[str, int]) -> None:
        """Has each table give higher row numbers than these from now on."""
        given = self.row_numbers()
        self.executemany(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?",
            [(number, name) for name, number in numbers.items() if name in given],
        )
        self.executemany(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
            [(name, number) for name, number in numbers.items() if name not in given],
        )
