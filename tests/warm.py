"""Programs started in a process that has imported everything already, which is forked for each.

A new Python takes four seconds to import pipecat and spaCy. Only tests of what happens before that
(imports, the installed command, the very first start) start one.
"""

import io
import multiprocessing
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

CONTEXT: Final = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.victim", "hotmem.cli.app", "hotmem.pipecat", "hotmem.tools"])

TIMEOUT_S: Final = 110.0
"""Seconds after which a program is killed."""


def run(
    program: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    terminal: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end.

    Args:
        program: Arguments of Python: "-c" and code, or "-m" and a module, then the program's own.
        environment: All variables that it has; None for those of this process.
        terminal: A device that is its standard input and output; None for none.
    """
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = start(program, environment, out=terminal or str(out), err=str(err))
        process.join(TIMEOUT_S)
        if process.exitcode is None:
            process.kill()
            process.join()
        printed = "" if terminal else out.read_text("utf-8")
        assert process.exitcode is not None
        return subprocess.CompletedProcess(
            list(program), process.exitcode, printed, err.read_text("utf-8")
        )


def start(
    program: Sequence[str], environment: Mapping[str, str] | None, *, out: str, err: str
) -> BaseProcess:
    """Start a program; arguments as of `run`, with the files that it prints to."""
    variables = dict(os.environ if environment is None else environment)
    process = CONTEXT.Process(
        target=_be, args=(list(program), variables, str(Path.cwd()), out, err)
    )
    process.start()
    return process


def _be(program: list[str], variables: dict[str, str], folder: str, out: str, err: str) -> None:
    """Become the program: its environment, folder, arguments and standard files."""
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    for number, file in enumerate((out if Path(out).exists() else os.devnull, out, err)):
        opened = os.open(file, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, mode, closefd=False), "utf-8", write_through=True)
        for number, mode in enumerate(("rb", "wb", "wb"))
    )
    kind, what, *sys.argv[1:] = program
    try:
        if kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit:
        raise
    except BaseException:
        traceback.print_exc()
        sys.exit(1)
