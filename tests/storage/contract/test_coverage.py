"""Every public query function is called by a contract test."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, Final

from hotmem.storage import queries
from tests.storage.contract import uncovered

MOST_UNCOVERED: Final = 60
"""Length of the list of uncovered functions at most; lower it as the list shrinks."""


def query_functions() -> Iterator[FunctionType]:
    """All public functions in `hotmem.storage.queries` whose first parameter is a connection.

    Those named `ask_…` are parts of the others, which read their results.
    """
    prefix = f"{queries.__name__}."
    for found in pkgutil.walk_packages(queries.__path__, prefix):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if (
                isinstance(value, FunctionType)
                and value.__module__ == found.name
                and not name.startswith(("_", "ask_"))
                and next(iter(inspect.signature(value).parameters), "") == "conn"
            ):
                yield value


def name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__.removeprefix(queries.__name__ + '.')}.{function.__name__}"


def dotted(node: ast.expr) -> list[str]:
    """["queries", "turns", "add"] for `queries.turns.add`; [] for what is no dotted name."""
    match node:
        case ast.Name(name):
            return [name]
        case ast.Attribute(value, attribute) if parents := dotted(value):
            return [*parents, attribute]
    return []


def used_functions() -> set[Any]:
    """The query functions that the modules of the contract name."""
    used = set()
    for path in Path(__file__).parent.glob("*.py"):
        if path.stem == uncovered.__name__.rpartition(".")[2]:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and (names := dotted(node))[:1] == ["queries"]:
                value: Any = queries
                for name in names[1:]:
                    value = getattr(value, name, None)
                if isinstance(value, FunctionType):
                    used.add(value)
    return used


def test_every_query_function_is_called_by_a_contract_test() -> None:
    unused = set(query_functions()) - used_functions()
    new = sorted(map(name_of, unused - uncovered.UNCOVERED))
    assert not new, f"call these in a test of this folder: {new}"
    done = sorted(map(name_of, uncovered.UNCOVERED - unused))
    assert not done, f"these are called now: remove them from uncovered.py: {done}"
    assert len(uncovered.UNCOVERED) <= MOST_UNCOVERED
