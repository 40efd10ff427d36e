"""The schema of both engines: tables are described once, in `tables.sql`.

From them come the schemas of both engines, and what copies, exports and deletes a user's rows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Final

COLUMN: Final = re.compile(
    r"(?P<name>\w+) (?P<kind>INTEGER|TEXT|REAL|BLOB)(?P<primary> PRIMARY KEY)?(?: AUTOINCREMENT)?"
    r"(?P<required> NOT NULL)?(?P<unique> UNIQUE)?(?: DEFAULT (?P<default>\S+))?"
    r"(?: REFERENCES (?P<parent>\w+) ON DELETE (?P<on_delete>CASCADE|SET NULL))?"
)
CONSTRAINT: Final = re.compile(r"(PRIMARY KEY|UNIQUE) \((.+)\)")
STATEMENT: Final = re.compile(
    r"(?:^-- (?P<rows>[^\n]+)\n)?"
    r"^CREATE TABLE (?P<name>\w+) \(\n(?P<body>.*?)\n\)(?: WITHOUT ROWID)?;"
    r"(?P<indexes>(?:\nCREATE INDEX [^;]+;)*)",
    re.MULTILINE | re.DOTALL,
)

EACH: Final = re.compile(r"-- each: ([^\n]+)\n(.*?)-- end\n", re.DOTALL)

OWNER: Final = "user_key"
"""The column of the row number of the user whose row it is."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name: Its name.
        kind: Its type in SQLite: INTEGER, TEXT, REAL or BLOB.
        required: Whether it is NOT NULL.
        default: Its default, as SQL.
        parent: The table that it refers to, if any.
        on_delete: What happens when that row is deleted: CASCADE or SET NULL.
    """

    name: str
    kind: str
    required: bool
    default: str | None
    parent: str | None
    on_delete: str | None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: Its name.
        rows: What its rows are, for people; empty for tables of the program itself.
        columns: Its columns.
        primary: The columns of its primary key.
        unique: Columns whose values are unique together.
        indexes: Its indexes, as statements.
    """

    name: str
    rows: str
    columns: tuple[Column, ...]
    primary: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    indexes: str

    @cached_property
    def parents(self) -> Mapping[str, str]:
        """The tables that columns refer to, the user aside."""
        return {one.name: one.parent for one in self.columns if one.parent and one.name != OWNER}

    @property
    def owned(self) -> bool:
        """Whether its rows belong to users."""
        return any(one.name == OWNER or one.parent for one in self.columns)

    @property
    def condition(self) -> str:
        """The condition that a row is of the user `:user`."""
        if any(one.name == OWNER for one in self.columns):
            return f"{OWNER} = :user"
        if not self.parents:
            return "id = :user"
        column, parent = next(iter(self.parents.items()))
        return f"{column} IN (SELECT id FROM {parent} WHERE {TABLES[parent].condition})"


def _tables() -> Iterator[Table]:
    for found in STATEMENT.finditer(text("tables.sql")):
        columns: list[Column] = []
        primary: tuple[str, ...] = ()
        unique: list[tuple[str, ...]] = []
        for line in map(str.strip, found["body"].splitlines()):
            if constraint := CONSTRAINT.match(line):
                names = tuple(constraint[2].split(", "))
                if constraint[1] == "UNIQUE":
                    unique.append(names)
                else:
                    primary = names
                continue
            column = COLUMN.fullmatch(line.rstrip(","))
            if column is None:
                raise ValueError(f"{found['name']}: {line}")
            name, kind, required, *others = column.group(*Column.__match_args__)
            columns.append(Column(name, kind, bool(required), *others))
            if column["primary"]:
                primary = (column["name"],)
            if column["unique"]:
                unique.append((column["name"],))
        yield Table(
            found["name"],
            found["rows"] or "",
            tuple(columns),
            primary,
            tuple(unique),
            found["indexes"].strip(),
        )


def text(file: str) -> str:
    """A file of this folder.

    What stands between "-- each: passage passages, memory memories" and "-- end" stands there once
    for each of them, which `{kind}` and `{rows}` name.
    """

    def for_each(found: re.Match[str]) -> str:
        pairs = (one.split() for one in found[1].split(", "))
        return "".join(
            found[2].replace("{kind}", kind).replace("{rows}", rows) for kind, rows in pairs
        )

    return EACH.sub(for_each, files(__name__).joinpath(file).read_text("utf-8"))


TABLES: Final[Mapping[str, Table]] = {one.name: one for one in _tables()}
"""All tables by name, parents before children."""
