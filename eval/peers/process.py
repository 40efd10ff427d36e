"""A peer's process: started in its environment, asked through a pipe, stopped at the end."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from eval.peers import Peer, child
from eval.peers.child import Said
from hotmem.errors import HotMemError

SWITCHES: Final = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "MEM0_TELEMETRY": "False",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}
"""Telemetry and downloads off, by the names the libraries read; one thread for the encoder, as
HotMem's own has."""


class PeerMissing(HotMemError):
    """A peer's virtual environment is not there."""


class PeerFailed(HotMemError):
    """A peer's process ended before it answered."""


@dataclass(frozen=True, slots=True)
class Running:
    """A peer that is being asked. Calls block."""

    peer: Peer
    process: "subprocess.Popen[str]"
    errors: IO[str]

    def open(self, folder: Path) -> str:
        """Leaves the last store for an empty one in a folder.

        What differs from the peer's defaults.
        """
        return str(self._ask({"open": str(folder)})["note"])

    def add(self, turns: Sequence[Said]) -> float:
        """Keeps a session; the milliseconds it took."""
        return float(self._ask({"add": [asdict(turn) for turn in turns]})["ms"])

    def search(self, question: str, day: str, limit: int) -> tuple[list[str], float]:
        """Ids of turns, best first, and the milliseconds it took."""
        answer = self._ask({"search": question, "day": day, "limit": limit})
        return answer["found"], answer["ms"]

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            PeerFailed: If there is none.
        """
        assert self.process.stdin and self.process.stdout
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        except (OSError, ValueError) as error:
            self.process.wait()
            raise PeerFailed(
                f"{self.peer.name} ended with exit code {self.process.returncode} "
                f"({self._last_error()}). "
                "Make its environment anew: make clean-peers peers"
            ) from error
        return answer

    def _last_error(self) -> str:
        """The kind of error that the process ended with.

        Not its message, which may hold what was said.
        """
        self.errors.seek(0)
        return (self.errors.read().rstrip().rpartition("\n")[2] or "no error").partition(":")[0]


def interpreter(peer: Peer, environments: Path) -> Path:
    """The Python of a peer's environment.

    Raises:
        PeerMissing: If the environment is not there.
    """
    python = environments / peer.environment / "bin" / "python"
    if not (python.parent.parent / "installed").exists():
        raise PeerMissing(f"{peer.name} has no environment in {environments}. Run: make peers")
    return python.absolute()


@contextmanager
def running(peer: Peer, environments: Path, model: Path) -> Iterator[Running]:
    """A peer's process for as long as the context lasts, with a home folder of its own.

    Args:
        peer: The peer.
        environments: The folder that `make peers` filled.
        model: The folder of the encoder's weights, in sentence-transformers' form.

    Raises:
        PeerMissing: If the peer has no environment.
    """
    command = [str(interpreter(peer, environments)), "-P", child.__file__, peer.program, str(model)]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    with (
        tempfile.TemporaryDirectory(prefix="hotmem-peer-") as home,
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
    ):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            cwd=home,
            env=kept | SWITCHES | {"HOME": home},
        )
        with process:
            yield Running(peer, process, errors)
