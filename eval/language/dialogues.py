"""Conversations whose queries people rewrote, so that each can be understood alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from eval.datasets.base import find_files, read_json, read_lines

MOST_BEFORE: Final = 10
"""Turns before a query that are kept; those of CAsT, all by the user, are kept all."""


class Dialogues(StrEnum):
    """The sets of rewritten queries."""

    CAST = "cast"
    MUDOCO = "mudoco"
    IKAT = "ikat"


@dataclass(frozen=True, slots=True)
class Query:
    """An utterance within its conversation.

    Attributes:
        conversation: The conversation's identifier.
        text: As it was said.
        rewritten: As a person wrote it to stand alone; the same where nothing was unclear.
        before: The turns before it, oldest first.
        by_user: Whether the user said it, not the assistant.
        statements: What is known of the user, by number; iKAT only.
        applying: Numbers of the statements that the answer needs; iKAT only.
        said_by_user: Whether the user said each turn of `before`; empty if both spoke in turn.
    """

    conversation: str
    text: str
    rewritten: str
    before: tuple[str, ...]
    by_user: bool = True
    statements: Mapping[str, str] = field(default_factory=dict)
    applying: frozenset[str] = frozenset()
    said_by_user: tuple[bool, ...] = ()

    @property
    def by_user_before(self) -> tuple[bool, ...]:
        """Whether the user said each turn of `before`."""
        return self.said_by_user or tuple(
            (place % 2 == 0) == self.by_user for place in range(len(self.before), 0, -1)
        )


def queries(dataset: Dialogues, path: Path) -> Iterator[Query]:
    """The queries of a set, in order.

    Args:
        dataset: Which set.
        path: CAsT 2019: the folder of `cast2019_topics.json` and `cast2019_resolved.tsv`.
            MuDoCo-QR: the file of a domain, or the folder of `mudoco_*.json`. iKAT: a file of
            topics, or the folder of `*topics.json`.

    Raises:
        InvalidInput: If a file is missing.
    """
    if dataset is Dialogues.CAST:
        return _cast(path)
    return _mudoco(path) if dataset is Dialogues.MUDOCO else _ikat(path)


def _cast(folder: Path) -> Iterator[Query]:
    resolved = dict(
        line.split("\t", 1)
        for file in find_files(folder, "cast2019_resolved.tsv")
        for line in read_lines(file)
        if line
    )
    for topic in read_json(find_files(folder, "cast2019_topics.json")[0]):
        said = [_plain(turn["raw_utterance"]) for turn in topic["turn"]]
        for place, turn in enumerate(topic["turn"]):
            rewritten = resolved[f"{topic['number']}_{turn['number']}"]
            yield Query(
                str(topic["number"]),
                said[place],
                _plain(rewritten),
                tuple(said[:place]),
                said_by_user=(True,) * place,
            )


def _mudoco(path: Path) -> Iterator[Query]:
    for name, dialog in (
        (name, dialog)
        for file in find_files(path, "mudoco_*.json")
        for name, dialog in read_json(file)["dialogs"].items()
    ):
        turns = dialog["turns"]
        for place, turn in enumerate(turns):
            if turn["graded"]:
                text = _plain(turn["utterance"])
                rewritten = (
                    _plain(turn["rewritten_utterance"]) if turn["rewrite_required"] else text
                )
                before = tuple(
                    _plain(earlier["utterance"])
                    for earlier in turns[max(0, place - MOST_BEFORE) : place]
                )
                yield Query(name, text, rewritten, before, by_user=turn["number"] % 2 == 1)


def _ikat(path: Path) -> Iterator[Query]:
    for file in find_files(path, "*topics.json"):
        for topic in read_json(file):
            before: list[str] = []
            for turn in topic["turns"]:
                text, rewritten = _plain(turn["utterance"]), _plain(turn["resolved_utterance"])
                applying = frozenset(map(str, turn["ptkb_provenance"]))
                yield Query(
                    topic["number"],
                    text,
                    rewritten,
                    tuple(before[-MOST_BEFORE:]),
                    statements=topic["ptkb"],
                    applying=applying,
                )
                before += [text, _plain(turn["response"])]


def _plain(text: str) -> str:
    return " ".join(text.split())
