"""Paths and server URLs."""

from pathlib import Path

import pytest

from hotmem.core.location import ServerUrl, locate
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize("given", ["memory.db", Path("a/b.db"), "/tmp/postgresql.db", "C:/x.db"])
def test_what_is_no_url_is_a_path(given: str | Path) -> None:
    assert locate(given) == Path(given)


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ana:secret@db.example:5432/bots?sslmode=require",
        "postgres://ana:secret@db.example:5432/bots?sslmode=require",
        Path("postgresql://ana:secret@db.example:5432/bots?sslmode=require"),
        ServerUrl("postgresql://ana:secret@db.example:5432/bots?sslmode=require"),
    ],
)
def test_a_url_is_shown_without_its_secrets(given: str | Path | ServerUrl) -> None:
    location = locate(given)
    assert isinstance(location, ServerUrl)
    assert location.url == "postgresql://ana:secret@db.example:5432/bots?sslmode=require"
    assert str(location) == "postgresql://db.example:5432/bots"
    assert "secret" not in repr(location)


@pytest.mark.parametrize("url", CASES["no_part_of_a_password_is_shown"])
def test_no_part_of_a_password_is_shown(url: str) -> None:
    shown = str(ServerUrl(url))
    assert "se" not in shown.removeprefix("postgresql") and "cret" not in shown


def test_databases_have_names_of_their_own() -> None:
    one, other = ServerUrl("postgresql://a/x"), ServerUrl("postgresql://a/y")
    assert one.name != other.name
    assert one.name == ServerUrl("postgresql://ana@a/x").name
