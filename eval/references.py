"""The simple systems that HotMem is measured beside, in the same run.

BM25, exact MiniLM search, and both blended.

Each ranks whole turns; the same packing fills a block with them in rank order, a session's date
once above its lines, leaving out what no longer fits.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.words import STOP_WORDS, words
from hotmem.models.encoder import Encoder
from hotmem.types import Turn

DEPTH: Final = 100
"""Turns of each ranking that the blend sees."""

LEAST: Final = 4
"""Tokens of the shortest line worth trying."""

Scores = NDArray[np.float64]
"""One score a turn, shape (turns,), larger is better; -inf for a turn that was not found."""


class Reference(StrEnum):
    """A reference by the name it has in reports."""

    BM25 = "BM25"
    MINILM = "MiniLM"
    BLEND = "BM25+MiniLM"


@dataclass(frozen=True, slots=True)
class Line:
    """One turn in a reference's block; the same shape as `hotmem.Item` where the metric looks."""

    text: str
    turn_ids: tuple[str, ...]
    session_id: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Block:
    """A reference's block: its text, the tokens of that text, and its lines in rank order."""

    text: str
    tokens: int
    lines: tuple[Line, ...]


class Index:
    """The turns of one conversation, indexed for all three references.

    Args:
        turns: The turns, in order.
        encoder: The encoder of the similarity search.
    """

    def __init__(self, turns: Sequence[Turn], encoder: Encoder) -> None:
        self.turns = tuple(turns)
        self._encoder = encoder
        self._vectors = encoder.encode([named(turn) for turn in turns])
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            "CREATE VIRTUAL TABLE turn USING fts5(text, tokenize = 'porter unicode61')"
        )
        self._database.executemany(
            "INSERT INTO turn(rowid, text) VALUES (?, ?)", enumerate(named(turn) for turn in turns)
        )

    def scores(self, reference: Reference, question: str) -> Scores:
        """A score for every turn."""
        match reference:
            case Reference.BM25:
                return self._bm25(question)
            case Reference.MINILM:
                return self._similarity(question)
            case Reference.BLEND:
                return blended(self._bm25(question), self._similarity(question))

    def close(self) -> None:
        """Frees the database."""
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


def named(turn: Turn) -> str:
    """A turn as it is indexed: "Ana: text", or the text alone where the speaker has no name."""
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def line(turn: Turn) -> str:
    """A turn as it is shown: "- Ana: text", with the role where the speaker has no name."""
    return f"- {turn.speaker or turn.role}: {turn.text}"


def ranked(scores: Scores) -> list[int]:
    """Places of the turns that were found, best first; equal scores in their order."""
    order = np.argsort(-scores, kind="stable")
    return [int(place) for place in order if np.isfinite(scores[place])]


def scaled(scores: Scores, depth: int = DEPTH) -> Scores:
    """The best `depth` scores moved linearly to 0 to 1, shape (turns,); every other turn has 0.

    Equal scores become 1.
    """
    result = np.zeros(len(scores))
    best = ranked(scores)[:depth]
    if best:
        low, high = scores[best[-1]], scores[best[0]]
        result[best] = (scores[best] - low) / (high - low) if high > low else 1.0
    return result


def blended(first: Scores, second: Scores) -> Scores:
    """The sum of both, each scaled over its own best `DEPTH`.

    What neither has among them is not found.
    """
    seen = np.zeros(len(first), dtype=bool)
    seen[ranked(first)[:DEPTH] + ranked(second)[:DEPTH]] = True
    return np.where(seen, scaled(first) + scaled(second), -np.inf)


def fill(turns: Sequence[Turn], scores: Scores, budget: int, count: Callable[[str], int]) -> Block:
    """A block of whole turns in rank order, grouped under the dates of their sessions.

    Args:
        turns: The turns.
        scores: Their scores, shape (turns,).
        budget: Tokens of the block at most.
        count: Tokens of a text.

    Returns:
        The block. Lines are tokenised one by one, which gives the same count as the whole text,
        because every line ends in a line break.
    """
    left = budget
    chosen: list[Line] = []
    dates: dict[str, str] = {}
    for place in ranked(scores):
        if left < LEAST:
            break
        turn = turns[place]
        text, header = line(turn), f"[{turn.spoken_at:%-d %B %Y}]"
        cost = count(f"{text}\n") + (0 if turn.session_id in dates else count(f"{header}\n"))
        if cost <= left:
            left -= cost
            dates.setdefault(turn.session_id, header)
            chosen.append(Line(text, (turn.id,), turn.session_id, float(scores[place])))
    return Block(_rendered(chosen, dates), budget - left, tuple(chosen))


def _rendered(lines: Sequence[Line], dates: dict[str, str]) -> str:
    parts: list[str] = []
    for session, header in dates.items():
        parts += [header, *(line.text for line in lines if line.session_id == session)]
    return "".join(f"{part}\n" for part in parts)
