"""The code does not grow: each package stays under a ceiling that only goes down."""

from pathlib import Path

import pytest

from tests.packaging.size import (
    ROOT,
    Size,
    ceilings,
    code_lines,
    former_tables,
    grown,
    over,
    raised,
    sizes,
)


def test_no_package_is_larger_than_its_ceiling() -> None:
    large = over(sizes(), ceilings())
    news = "\n".join(f"{text}\n{grown(name)}" for name, text in large.items())
    assert not large, f"Take something away, or build it smaller. Added and removed:\n{news}"


def test_no_ceiling_was_raised() -> None:
    table = ceilings()
    assert not [raised(table, former) for former in former_tables() if raised(table, former)]


def test_fifty_lines_more_are_too_many(tmp_path: Path) -> None:
    package = tmp_path / "hotmem" / "block"
    package.mkdir(parents=True)
    code = (ROOT / "hotmem" / "block" / "packing.py").read_text("utf-8")
    (package / "packing.py").write_text(code, "utf-8")
    table = sizes(tmp_path)
    (package / "packing.py").write_text(code + "EXTRA = 1\n" * 50, "utf-8")
    assert set(over(sizes(tmp_path), table)) == {"hotmem", "hotmem/block"}
    (package / "packing.py").write_text(code, "utf-8")
    assert over(sizes(tmp_path), table) == {}
    (tmp_path / "hotmem" / "another").mkdir()
    (tmp_path / "hotmem" / "another" / "__init__.py").write_text("", "utf-8")
    assert "no row" in over(sizes(tmp_path), table)["hotmem/another"]


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        (
            "a.py",
            '"""A module.\n\nOf two parts.\n"""\n\n# why\nX = 1  # one\n"""A constant."""\n',
            1,
        ),
        ("a.py", 'def f() -> str:\n    """Say."""\n    return """a\n\nb"""\n', 4),
        ("a.py", "", 0),
        ("a.sql", "-- a table\nCREATE TABLE t (\n\n  a INTEGER -- rows\n);\n", 3),
    ],
)
def test_code_is_counted_without_what_explains_it(
    name: str, text: str, lines: int, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert code_lines(tmp_path / name) == lines


def test_a_row_may_be_lowered_and_added_and_not_raised() -> None:
    former = {"a": Size(100, 5), "b": Size(50, 2)}
    assert raised({"a": Size(99, 5), "b": Size(50, 2), "c": Size(9, 1)}, former) == set()
    assert raised({"a": Size(99, 6), "b": Size(51, 2)}, former) == {"a", "b"}
