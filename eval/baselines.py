"""The baselines: BM25, exact MiniLM search, and a blend of both.

Each ranks whole turns. A block is filled in rank order, under the date of each session; turns that
do not fit are skipped.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.content_words import STOP_WORDS, words
from hotmem.models.encoder import Encoder
from hotmem.types import Turn

BLEND_DEPTH: Final = 100
"""Turns of each ranking that the blend uses."""

MIN_LINE_TOKENS: Final = 4
"""Tokens of the shortest possible line."""

Scores = NDArray[np.float64]
"""One score per turn, shape (turns,), larger is better; -inf for a turn that was not found."""


class Baseline(StrEnum):
    """A baseline by its name in reports."""

    BM25 = "BM25"
    MINILM = "MiniLM"
    BLEND = "BM25+MiniLM"


@dataclass(frozen=True, slots=True)
class BlockLine:
    """One turn in a baseline's block; a `BlockItem` for the metric."""

    text: str
    turn_ids: tuple[str, ...]
    session_id: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Block:
    """A baseline's block: its text, the tokens of that text, and its lines in rank order."""

    text: str
    tokens: int
    lines: tuple[BlockLine, ...]


class Index:
    """The turns of one conversation, indexed for all baselines.

    Args:
        turns: The turns, in order.
        encoder: Encoder of the vector search.
    """

    def __init__(self, turns: Sequence[Turn], encoder: Encoder) -> None:
        self.turns = tuple(turns)
        self._encoder = encoder
        self._vectors = encoder.encode([indexed_text(turn) for turn in turns])
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            "CREATE VIRTUAL TABLE turn USING fts5(text, tokenize = 'porter unicode61')"
        )
        self._database.executemany(
            "INSERT INTO turn(rowid, text) VALUES (?, ?)",
            enumerate(indexed_text(turn) for turn in turns),
        )

    def scores(self, reference: Baseline, question: str) -> Scores:
        """Return a score for each turn."""
        match reference:
            case Baseline.BM25:
                return self._bm25(question)
            case Baseline.MINILM:
                return self._similarity(question)
            case Baseline.BLEND:
                return blend(self._bm25(question), self._similarity(question))

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _bm25(self, question: str) -> Scores:
        scores = np.full(len(self.turns), -np.inf)
        asked = [word for word in dict.fromkeys(words(question)) if word not in STOP_WORDS]
        if asked:
            match = " OR ".join(f'"{word}"' for word in asked)
            for row, rank in self._database.execute(
                "SELECT rowid, bm25(turn) FROM turn WHERE turn MATCH ?", (match,)
            ):
                scores[row] = -rank
        return scores

    def _similarity(self, question: str) -> Scores:
        return np.asarray(self._vectors @ self._encoder.encode([question])[0], dtype=np.float64)


def indexed_text(turn: Turn) -> str:
    """Return a turn as it is indexed: "Ana: text", or only the text if the speaker has no name."""
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def shown_text(turn: Turn) -> str:
    """Return a turn as it is shown: "- Ana: text", with the role if the speaker has no name."""
    return f"- {turn.speaker or turn.role}: {turn.text}"


def rank(scores: Scores) -> list[int]:
    """Return the indices of found turns, best first; ties in their order."""
    order = np.argsort(-scores, kind="stable")
    return [int(place) for place in order if np.isfinite(scores[place])]


def min_max_scale(scores: Scores, depth: int = BLEND_DEPTH) -> Scores:
    """Scale the best `depth` scores linearly to 0 to 1; all other turns get 0.

    If all scores are equal, they become 1.
    """
    result = np.zeros(len(scores))
    best = rank(scores)[:depth]
    if best:
        low, high = scores[best[-1]], scores[best[0]]
        result[best] = (scores[best] - low) / (high - low) if high > low else 1.0
    return result


def blend(first: Scores, second: Scores) -> Scores:
    """Add both scores, each scaled over its own best `BLEND_DEPTH`.

    Turns among neither are not found.
    """
    seen = np.zeros(len(first), dtype=bool)
    seen[rank(first)[:BLEND_DEPTH] + rank(second)[:BLEND_DEPTH]] = True
    return np.where(seen, min_max_scale(first) + min_max_scale(second), -np.inf)


def fill_block(
    turns: Sequence[Turn], scores: Scores, budget: int, count: Callable[[str], int]
) -> Block:
    """Fill a block with whole turns in rank order, grouped under the dates of their sessions.

    Args:
        turns: The turns.
        scores: Their scores, shape (turns,).
        budget: Maximum tokens of the block.
        count: Returns the tokens of a text.

    Returns:
        The block. Lines are counted one by one, which equals the count of the whole text because
            each line ends with a line break.
    """
    left = budget
    chosen: list[BlockLine] = []
    dates: dict[str, str] = {}
    for place in rank(scores):
        if left < MIN_LINE_TOKENS:
            break
        turn = turns[place]
        text, header = shown_text(turn), f"[{turn.spoken_at:%-d %B %Y}]"
        cost = count(f"{text}\n") + (0 if turn.session_id in dates else count(f"{header}\n"))
        if cost <= left:
            left -= cost
            dates.setdefault(turn.session_id, header)
            chosen.append(BlockLine(text, (turn.id,), turn.session_id, float(scores[place])))
    return Block(_rendered(chosen, dates), budget - left, tuple(chosen))


def _rendered(lines: Sequence[BlockLine], dates: dict[str, str]) -> str:
    parts: list[str] = []
    for session, header in dates.items():
        parts += [
            header,
            *(shown_text.text for shown_text in lines if shown_text.session_id == session),
        ]
    return "".join(f"{part}\n" for part in parts)
