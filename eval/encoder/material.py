"""Conversations as the published model reads them, token by token, read once and kept for later runs."""

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from eval.datasets import Conversation
from eval.retrieval import held_out
from hotmem.models.encoder import read
from hotmem.models.onnx import OnnxEncoder
from hotmem.text import passages

KEPT: Final = 4096
"""Texts whose reading a process keeps; LongMemEval tells the same session in many histories."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as the published model reads them.

    Attributes:
        rows: Unit rows, float32 (texts, 384).
        states: Last hidden states of all word pieces, text after text, float16 (pieces, 384).
        starts: Where each text's pieces begin, and the end, int64 (texts + 1,).
    """

    rows: NDArray[np.float32]
    states: NDArray[np.float16]
    starts: NDArray[np.int64]

    def of(self, text: int) -> NDArray[np.float32]:
        """The states of one text's pieces, float32 (pieces, 384)."""
        return self.states[self.starts[text] : self.starts[text + 1]].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Material:
    """A conversation, read.

    Attributes:
        dataset: The dataset's name.
        name: The conversation's.
        held_out: Whether it is kept from fitting.
        passages: The passages of its turns as they are embedded, each after its speaker's name.
        turns: The place of each passage's turn in the conversation, int64 (passages,), ascending.
        questions: What is asked, of that which has evidence.
        wordings: The category of each question.
        evidence: The places of the turns that answer each question.
    """

    dataset: str
    name: str
    held_out: bool
    passages: Texts
    turns: NDArray[np.int64]
    questions: Texts
    wordings: tuple[str, ...]
    evidence: tuple[tuple[int, ...], ...]


def materials(datasets: Mapping[str, Sequence[Conversation]], folder: Path, jobs: int, console: Console) -> Iterator[Material]:
    """Every conversation that asks for something it tells, read in processes; what is in the folder is not read again."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [(name, number, conversation) for name, conversations in datasets.items() for number, conversation in enumerate(conversations)]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for file in track(pool.map(partial(_kept, folder), tasks), "reading", len(tasks), console=console):
            material = _loaded(file)
            if material.evidence:
                yield material


def _kept(folder: Path, task: tuple[str, int, Conversation]) -> Path:
    """The file of a conversation's reading; the body of a process."""
    name, number, conversation = task
    told = "\0".join(
        [*(f"{turn.speaker}: {turn.text}" for turn in conversation.turns), *(one.text for one in conversation.questions), _encoder().name]
    )
    file = folder / f"{name}-{number}-{blake2b(told.encode(errors='replace'), digest_size=8).hexdigest()}.npz"
    if not file.exists():
        material = _read(name, number, conversation)
        part = file.with_suffix(".part")
        with part.open("wb") as out:
            np.savez(
                out,
                **{f"passages_{key}": getattr(material.passages, key) for key in ("rows", "states", "starts")},
                **{f"questions_{key}": getattr(material.questions, key) for key in ("rows", "states", "starts")},
                turns=material.turns,
                wordings=np.array(material.wordings, dtype=np.str_),
                evidence=np.array([" ".join(map(str, places)) for places in material.evidence], dtype=np.str_),
                about=np.array([name, material.name, str(number)]),
            )
        part.rename(file)
    return file


def _loaded(file: Path) -> Material:
    with np.load(file) as kept:
        texts = {kind: Texts(*(kept[f"{kind}_{key}"] for key in ("rows", "states", "starts"))) for kind in ("passages", "questions")}
        dataset, name, number = map(str, kept["about"])
        evidence = tuple(tuple(map(int, places.split())) for places in kept["evidence"])
        return Material(
            dataset, name, held_out(int(number)), texts["passages"], kept["turns"], texts["questions"], tuple(map(str, kept["wordings"])), evidence
        )


def _read(name: str, number: int, conversation: Conversation) -> Material:
    place = {turn.id: at for at, turn in enumerate(conversation.turns)}
    cut = [
        (at, f"{turn.speaker}: {turn.text[start:stop]}" if turn.speaker else turn.text[start:stop])
        for at, turn in enumerate(conversation.turns)
        for start, stop in passages(turn.text)
    ]
    asked = [question for question in conversation.questions if question.evidence and not question.abstain]
    return Material(
        dataset=name,
        name=conversation.user,
        held_out=held_out(number),
        passages=_texts([text for _, text in cut]),
        turns=np.array([at for at, _ in cut], dtype=np.int64),
        questions=_texts([question.text for question in asked]),
        wordings=tuple(question.category for question in asked),
        evidence=tuple(tuple(place[turn] for turn in question.evidence) for question in asked),
    )


def _texts(texts: Sequence[str]) -> Texts:
    readings = [_reading(text) for text in texts]
    width = _encoder().dimension
    rows = np.array([row for row, _ in readings], dtype=np.float32).reshape(-1, width)
    states = np.concatenate([np.empty((0, width), dtype=np.float16), *(states for _, states in readings)])
    return Texts(rows, states, np.cumsum([0, *(len(states) for _, states in readings)], dtype=np.int64))


_recent: dict[str, tuple[NDArray[np.float32], NDArray[np.float16]]] = {}


def _reading(text: str) -> tuple[NDArray[np.float32], NDArray[np.float16]]:
    """The row and the states of a text."""
    if text not in _recent:
        if len(_recent) >= KEPT:
            del _recent[next(iter(_recent))]
        (reading,) = read(_encoder(), [text])
        _recent[text] = reading.row, reading.states.astype(np.float16)
    return _recent[text]


@cache
def _encoder() -> OnnxEncoder:
    return OnnxEncoder.load()
