"""Conversations encoded token by token, with a cache on disk for later runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.baselines import indexed_text
from eval.datasets import Conversation, Question
from eval.output import tracked
from eval.run import held_out
from hotmem.models.encoder import EncodedText
from hotmem.text.passages import split_passages

Reader: TypeAlias = Callable[[Sequence[str]], list[EncodedText]]
"""Encodes texts with their tokens."""

KEPT: Final = 4096
"""Number of cached texts; LongMemEval repeats sessions across histories."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Encoded texts.

    Attributes:
        rows: Unit vectors, float32 (texts, 384).
        states: Token states, text after text, float16 (tokens, dimensions).
        starts: Index of each text's first token, and the total, int64 (texts + 1,).
    """

    rows: NDArray[np.float32]
    states: NDArray[np.float16]
    starts: NDArray[np.int64]

    def of(self, text: int) -> NDArray[np.float32]:
        """Return one text's token states, float32 (tokens, dimensions)."""
        return self.states[self.starts[text] : self.starts[text + 1]].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Material:
    """An encoded conversation.

    Attributes:
        dataset: Name of the dataset.
        name: Name of the conversation.
        held_out: Whether it is excluded from fitting.
        passages: Passages of its turns as they are embedded, each prefixed by its speaker's name.
        turns: Index of each passage's turn in the conversation, int64 (passages,), ascending.
        questions: The questions that have evidence.
        wordings: Category of each question.
        evidence: Indices of the evidence turns of each question.
    """

    dataset: str
    name: str
    held_out: bool
    passages: Texts
    turns: NDArray[np.int64]
    questions: Texts
    wordings: tuple[str, ...]
    evidence: tuple[tuple[int, ...], ...]


def materials(
    datasets: Mapping[str, Sequence[Conversation]],
    reader: Reader,
    name: str,
    folder: Path | None,
) -> Iterator[Material]:
    """Yield every conversation that has questions with evidence, encoded.

    Args:
        datasets: Conversations by dataset.
        reader: The encoder.
        name: Its name.
        folder: Folder of the cache; None disables it.
    """
    recent: dict[str, EncodedText] = {}
    tasks = [
        (dataset, number, conversation)
        for dataset, part in datasets.items()
        for number, conversation in enumerate(part)
    ]
    for dataset, number, conversation in tracked(tasks, f"reading, {name}"):
        turns, told = passages_of(conversation)
        questions, evidence = asked_of(conversation)
        if questions:
            yield Material(
                dataset=dataset,
                name=conversation.user,
                held_out=held_out(number),
                passages=_read(told, reader, name, folder, recent),
                turns=np.array(turns, dtype=np.int64),
                questions=_read([one.text for one in questions], reader, name, folder, recent),
                wordings=tuple(one.category for one in questions),
                evidence=tuple(evidence),
            )


def passages_of(conversation: Conversation) -> tuple[list[int], list[str]]:
    """Return the passages of all turns, prefixed by speaker, with the indices of their turns."""
    cut = [
        (at, indexed_text(replace(turn, text=turn.text[start:stop])))
        for at, turn in enumerate(conversation.turns)
        for start, stop in split_passages(turn.text)
    ]
    return [at for at, _ in cut], [text for _, text in cut]


def asked_of(conversation: Conversation) -> tuple[list[Question], list[tuple[int, ...]]]:
    """Return the questions that have evidence, with the indices of their evidence turns."""
    place = {turn.id: at for at, turn in enumerate(conversation.turns)}
    asked = [
        question
        for question in conversation.questions
        if question.evidence and not question.abstain
    ]
    return asked, [tuple(place[turn] for turn in question.evidence) for question in asked]


def _read(
    texts: Sequence[str],
    reader: Reader,
    name: str,
    folder: Path | None,
    recent: dict[str, EncodedText],
) -> Texts:
    if folder is None:
        return _texts(texts, reader, recent)
    folder.mkdir(parents=True, exist_ok=True)
    key = blake2b("\0".join([name, *texts]).encode(errors="replace"), digest_size=16).hexdigest()
    file = folder / f"{key}.npz"
    if not file.exists():
        found = _texts(texts, reader, recent)
        part = file.with_suffix(".part")
        with part.open("wb") as out:
            np.savez(out, rows=found.rows, states=found.states, starts=found.starts)
        part.rename(file)
    with np.load(file) as kept:
        return Texts(kept["rows"], kept["states"], kept["starts"])


def _texts(texts: Sequence[str], reader: Reader, recent: dict[str, EncodedText]) -> Texts:
    if missing := list(dict.fromkeys(text for text in texts if text not in recent)):
        recent |= dict(zip(missing, reader(missing), strict=True))
    readings = [recent[text] for text in texts]
    for text in list(recent)[: max(len(recent) - KEPT, 0)]:
        del recent[text]
    states = [reading.token_states.astype(np.float16) for reading in readings]
    return Texts(
        np.stack([reading.vector for reading in readings]),
        np.concatenate(states),
        np.cumsum([0, *map(len, states)], dtype=np.int64),
    )
