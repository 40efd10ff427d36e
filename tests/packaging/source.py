"""The source tree as tests read it: modules, their imports, and the words they are written in."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+")


@dataclass(frozen=True)
class Module:
    """One file of the package.

    Attributes:
        name: Dotted, relative to `hotmem`; empty for `hotmem/__init__.py`.
        path: The file.
    """

    name: str
    path: Path

    @property
    def package(self) -> str:
        """The first part of the name: a package, or a module at the top."""
        return self.name.partition(".")[0]

    @property
    def source(self) -> str:
        return self.path.read_text("utf-8")

    @property
    def lines(self) -> int:
        return self.source.count("\n")


def modules() -> dict[str, Module]:
    """Every module of `hotmem`, by its name."""
    found = {}
    for path in sorted((ROOT / "hotmem").rglob("*.py")):
        parts = path.relative_to(ROOT / "hotmem").with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path)
    return found


def imports(module: Module, known: dict[str, Module], *, for_types: bool = True) -> set[str]:
    """The modules of `hotmem` that a module imports, inside functions too.

    Args:
        module: The module.
        known: All modules by name.
        for_types: Whether imports under `if TYPE_CHECKING` count, which never run.
    """
    found = set()
    tree = ast.parse(module.source)
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
        if not for_types
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("hotmem").lstrip(".")
                for alias in node.names
                if alias.name.partition(".")[0] == "hotmem"
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "hotmem":
            assert node.module is not None
            base = node.module.removeprefix("hotmem").lstrip(".")
            for alias in node.names:
                submodule = f"{base}.{alias.name}".lstrip(".")
                found.add(submodule if submodule in known else base)
    return found - {module.name}


def names(module: Module) -> Iterator[tuple[int, str]]:
    """Line and identifier of everything a module defines, split into words."""
    for node in ast.walk(ast.parse(module.source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, _words(node.name)
        elif isinstance(node, ast.arg):
            yield node.lineno, _words(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, _words(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, _words(node.attr)


def _words(identifier: str) -> str:
    return " ".join(CAMEL.split(identifier)).strip().lower()


def prose(module: Module) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings, comments, error messages and help texts of a module."""
    tree = ast.parse(module.source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield from _lines(statement.value)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from _strings(node.exc)
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "help":
                    yield from _strings(keyword.value)
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant):
            yield from _lines(inner)


def _lines(constant: ast.Constant) -> Iterator[tuple[int, str]]:
    if isinstance(constant.value, str):
        for number, line in enumerate(constant.value.splitlines()):
            yield constant.lineno + number, line
