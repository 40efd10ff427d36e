"""Running `hotmem` commands in this process."""

from typer.testing import CliRunner, Result

from hotmem.cli import app


def run(*words: object) -> Result:
    """Run a command of these words."""
    return CliRunner().invoke(app.app, [str(word) for word in words])
