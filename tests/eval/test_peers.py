"""The comparison with peers: its scores, the pipe to a peer, and missing peers."""

import json
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest

from eval.baselines import BlockLine
from eval.datasets import Question
from eval.peers import PEERS, Peer
from eval.peers.child import Said, refuse_network, serve
from eval.peers.comparison import block_of, said
from eval.peers.measures import Asked, Measured, any_first, in_order
from eval.peers.process import PeerFailed, PeerMissing, interpreter, running
from eval.peers.report import show, summed_up
from hotmem.models import TokenCounter
from tests.eval.test_baselines import START, TURNS


class Words:
    """A peer that ranks by shared words."""

    note = "shared words"

    def __init__(self, folder: str, model: str) -> None:
        self._turns: list[Said] = []

    def add(self, turns: Sequence[Said]) -> None:
        self._turns += turns

    def search(self, question: str, day: str, limit: int) -> list[str]:
        asked = set(question.lower().split())
        ranked = sorted(
            self._turns, key=lambda turn: -len(asked.intersection(turn.text.lower().split()))
        )
        return [turn.id for turn in ranked[:limit]]

    def close(self) -> None:
        self._turns.clear()


def answers(*requests: dict[str, object]) -> list[dict[str, object]]:
    written = StringIO()
    serve(
        Words,
        "model",
        StringIO("".join(f"{json.dumps(request)}\n" for request in requests)),
        written,
    )
    return [json.loads(line) for line in written.getvalue().splitlines()]


def turn(number: int, text: str) -> dict[str, object]:
    return {"id": f"t{number}", "text": text, "role": "user", "day": "2024-05-06"}


def test_the_program_answers_line_by_line() -> None:
    opened, added, found = answers(
        {"open": "folder"},
        {"add": [turn(0, "Ana: I bought a canoe"), turn(1, "Ana: my sister plays the cello")]},
        {"search": "who plays the cello", "day": "2024-05-07", "limit": 1},
    )
    assert opened == {"note": "shared words"}
    assert set(added) == {"ms"}
    assert found["found"] == ["t1"]


def test_every_store_opens_empty() -> None:
    found = answers(
        {"open": "a"},
        {"add": [turn(0, "x")]},
        {"open": "b"},
        {"search": "x", "day": "2024-05-07", "limit": 5},
    )[-1]
    assert found["found"] == []


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("socket.connect", (None, ("192.0.2.1", 443))),
        ("socket.getaddrinfo", ("example.org", 443, 0, 0, 0)),
    ],
)
def test_other_hosts_are_refused(event: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(ConnectionRefusedError):
        refuse_network(event, arguments)


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("socket.connect", (None, ("127.0.0.1", 8711))),
        ("socket.connect", (None, "/run/socket")),
        ("socket.getaddrinfo", (None, 80, 0, 0, 0)),
        ("open", ("x",)),
    ],
)
def test_the_loopback_and_files_are_not(event: str, arguments: tuple[object, ...]) -> None:
    refuse_network(event, arguments)


def test_a_turn_is_said_with_its_speaker() -> None:
    assert said(TURNS[0]) == Said(
        "t0", "Ana: I bought a canoe at the harbour.", "user", "2024-05-06"
    )


def question(*evidence: str, abstain: bool = False) -> Question:
    return Question("q", "Who?", START, evidence, "", "category", abstain)


def test_any_first_counts_distinct_turns() -> None:
    assert any_first(question("e"), ["a", "a", "b", "c", "d", "e"]) == 1.0
    assert any_first(question("f", "g"), ["a", "b", "c", "d", "e", "f"]) == 0.0
    assert any_first(question(), ["a"]) is None
    assert any_first(question("a", abstain=True), ["a"]) is None


def test_turns_of_a_block_by_relevance() -> None:
    assert in_order([BlockLine("x", ("a",), "s", 0.2), BlockLine("y", ("b", "c"), "s", 0.9)]) == [
        "b",
        "c",
        "a",
    ]


def test_a_block_holds_the_ranked_turns_and_no_others(tokens: TokenCounter) -> None:
    block = block_of(["t3", "t0"], TURNS, 1000, tokens)
    assert [line.turn_ids for line in block.lines] == [("t3",), ("t0",)]
    assert block.tokens == tokens.count(block.text)
    assert [line.turn_ids for line in block_of(["t3", "t0"], TURNS, 25, tokens).lines] == [("t3",)]


def asked(delivered: float | None, ms: float) -> Asked:
    return Asked({1000: delivered, 500: delivered}, delivered, ms)


def test_figures_by_arithmetic(capsys: pytest.CaptureFixture[str]) -> None:
    hotmem = Measured(
        "HotMem",
        "",
        [
            asked(1.0, 5),
            asked(0.5, 7),
            asked(None, 9),
        ],
        10,
        100,
    )
    other = Measured(
        "other",
        "off",
        [asked(0.5, 1), asked(0.5, 1), asked(None, 1)],
        10,
        20,
    )
    first, second = summed_up([hotmem, other])
    assert (
        first.scored,
        first.delivered,
        first.any_5,
        first.p50_ms,
        first.ingest_ms,
        first.behind,
    ) == (
        2,
        {1000: 0.75, 500: 0.75},
        0.75,
        7,
        10,
        None,
    )
    assert second.behind is not None
    assert second.behind.mean == 0.25
    assert second.note == "off"
    show([first, second], "title")
    assert "+25.0 points" in capsys.readouterr().out


def test_a_missing_environment_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(PeerMissing, match="make peers"):
        interpreter(PEERS[0], tmp_path)


def test_a_peer_that_ends_early_is_said_with_the_kind_of_its_error(tmp_path: Path) -> None:
    environment = tmp_path / "chroma"
    (environment / "bin").mkdir(parents=True)
    (environment / "installed").touch()
    (environment / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    (environment / "bin" / "python").chmod(0o755)
    with (
        running(Peer("chromadb", "chroma", "chroma"), tmp_path, tmp_path) as peer,
        pytest.raises(PeerFailed, match="ModuleNotFoundError"),
    ):
        peer.open(tmp_path)


def test_every_peer_has_its_pins_and_its_program() -> None:
    folder = Path(sys.modules["eval.peers"].__path__[0])
    for peer in PEERS:
        assert (folder / f"{peer.program}.py").is_file()
        assert "==" in peer.version
