"""Statements that reach rows of users without naming the user, as distribution by user asks.

Their number may only shrink. `docs/scale.md` says what they mean for a distributed database.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import hotmem.storage
from hotmem.storage.postgres.diagnosis import OPEN_TABLES

ROOT = Path(hotmem.storage.__file__).parent
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s")
TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)")
BY_ENGINE = {"sqlite", "postgres", "copying", "spool.py"}
"""Modules whose statements are of one engine, or copy whole tables."""

OTHERS = {*OPEN_TABLES, "users"}
"""Tables without rows of users, and the one whose key is the user."""

NAMELESS = 132
"""Statements that name no user."""


def test_statements_without_the_user_only_become_fewer() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(ROOT.rglob("*.py"))
        if not BY_ENGINE & set(path.relative_to(ROOT).parts)
        for line, statement in _statements(path)
        if "user_key" not in statement and set(TABLE.findall(statement)) - OTHERS
    ]
    assert len(found) == NAMELESS, "\n".join(found)


def _statements(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the statements of a module; what is put into an f-string is left out."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner
        ):
            text = node.value
        else:
            continue
        if STATEMENT.match(text):
            yield node.lineno, text
