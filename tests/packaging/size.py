"""Counts the code of each package against the ceilings of `ceilings.json`, which only go down.

A line counts unless it is blank, a comment or part of a docstring; of SQL, unless it is blank or a
comment. `python -m tests.packaging.size` lowers the ceilings to what is there now.
"""

import ast
import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
TABLE: Final = Path(__file__).with_name("ceilings.json")

WHOLE: Final = ("hotmem", "tests", "eval")
"""Folders that have a ceiling for all that is in them. Each package of `hotmem` has its own too."""


class Size(NamedTuple):
    """How large a package is, or may be."""

    lines: int
    files: int


def code_lines(path: Path) -> int:
    """The lines of code of a Python or SQL file."""
    text = path.read_text("utf-8")
    mark = "--" if path.suffix == ".sql" else "#"
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    counted = {number for number, line in lines if line and not line.startswith(mark)}
    if path.suffix == ".py":
        for docstring, part in _strings(ast.parse(text)):
            counted = counted - part if docstring else counted | part
    return len(counted)


def _strings(tree: ast.Module) -> Iterator[tuple[bool, set[int]]]:
    """The lines of strings of several lines, and of those that stand alone as docstrings do."""
    alone = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as string):
                alone.add(string)
                yield True, _lines(string)
            case ast.Constant(value=str()) | ast.JoinedStr() if node not in alone:
                if node.end_lineno != node.lineno:
                    yield False, _lines(node)


def _lines(node: ast.expr) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def sizes(root: Path = ROOT) -> dict[str, Size]:
    """The size of every folder and package that has a ceiling, by its name."""
    found: dict[str, Size] = defaultdict(lambda: Size(0, 0))
    for folder in WHOLE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".py", ".sql") or not path.is_file():
                continue
            parts = path.relative_to(root).parts
            package = "/".join(parts[:2]) if len(parts) > 2 else f"{folder}/*.py"
            lines = code_lines(path)
            for name in (folder, package) if folder == "hotmem" else (folder,):
                found[name] = Size(found[name].lines + lines, found[name].files + 1)
    return dict(found)


def ceilings(text: str | None = None) -> dict[str, Size]:
    """The table, or a former one from its text."""
    loaded = json.loads(TABLE.read_text("utf-8") if text is None else text)
    return {name: Size(*row) for name, row in loaded.items()}


def over(now: dict[str, Size], table: dict[str, Size]) -> dict[str, str]:
    """What is wrong with each package that is larger than its ceiling or has none."""
    return {
        name: f"{name}: {size.lines} lines in {size.files} files, at most "
        f"{table[name].lines} in {table[name].files} are allowed"
        if name in table
        else f"{name}: {size.lines} lines in {size.files} files, and no row in {TABLE.name}"
        for name, size in now.items()
        if name not in table or size.lines > table[name].lines or size.files > table[name].files
    }


def raised(table: dict[str, Size], former: dict[str, Size]) -> set[str]:
    """Rows that are higher than before. A new row is none."""
    return {
        name
        for name, row in table.items()
        if name in former and (row.lines > former[name].lines or row.files > former[name].files)
    }


def git(*arguments: str) -> str:
    """What git prints; nothing in an archive of the source, which has no history."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


def former_tables() -> list[dict[str, Size]]:
    """The tables of all commits, the newest first."""
    path = TABLE.relative_to(ROOT).as_posix()
    commits = git("log", "--format=%H", "--", path).split()
    return [ceilings(text) for commit in commits if (text := git("show", f"{commit}:{path}"))]


def grown(name: str) -> str:
    """Lines added and removed in each file of a package since the table was written."""
    path = TABLE.relative_to(ROOT).as_posix()
    since = git("log", "-1", "--format=%H", "--", path).strip()
    folder, _, loose = name.partition("/*")
    files = f":(glob){folder}/*.py" if loose else folder
    return git("diff", "--numstat", since, "--", files) if since else ""


def lower() -> None:
    """Write the table anew: no row higher than before, new packages with a row of their own."""
    now, table = sizes(), ceilings() if TABLE.exists() else {}
    rows = {
        name: [min(new, old) for new, old in zip(size, table.get(name, size), strict=True)]
        for name, size in sorted(now.items())
    }
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    TABLE.write_text(f"{{\n{lines}\n}}\n", "utf-8")


if __name__ == "__main__":
    lower()
