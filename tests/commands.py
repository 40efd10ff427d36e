"""Running `hotmem` commands in this process."""

from collections.abc import Callable

from typer.testing import CliRunner, Result

from hotmem.cli import app

Run = Callable[..., Result]
"""Runs a command of some words."""


def run(*words: object) -> Result:
    """Run a command of these words."""
    return CliRunner().invoke(app.app, [str(word) for word in words])
