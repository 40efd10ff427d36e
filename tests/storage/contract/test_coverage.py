"""Every public query function is called by a contract test."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, Final

from hotmem import readings
from hotmem.storage import queries

UNCOVERED: Final = Path(__file__).with_name("uncovered.txt")
"""Functions that no contract test calls yet. Call one and remove it there; none may be added."""

MOST_UNCOVERED: Final = 49
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
    """The query functions that the modules of the contract name, or the steps that they run."""
    used = set()
    for path in (*Path(__file__).parent.glob("*.py"), Path(readings.__file__)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and (names := dotted(node))[:1] == ["queries"]:
                value: Any = queries
                for name in names[1:]:
                    value = getattr(value, name, None)
                if isinstance(value, FunctionType):
                    used.add(value)
    return used


def test_every_query_function_is_called_by_a_contract_test() -> None:
    unused = {name_of(function) for function in set(query_functions()) - used_functions()}
    uncovered = set(UNCOVERED.read_text("utf-8").split())
    assert not unused - uncovered, "call these in a test of this folder"
    assert not uncovered - unused, f"these are called now: remove them from {UNCOVERED.name}"
    assert len(uncovered) <= MOST_UNCOVERED
