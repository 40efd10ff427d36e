"""Queries that people rewrote, and how an expansion is judged."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from eval.language.dialogues import Dialogues, Query, queries
from eval.language.rewriting import (
    Expanded,
    expanded,
    figures,
    is_right,
    resolutions,
    statements,
    wanted,
)
from hotmem.errors import InvalidInput
from hotmem.models import Encoder, Language

ASKED = Query(
    "1", "How tall is it?", "How tall is the Ulm Minster tower?", ("Who built the Ulm Minster?",)
)
CLEAR = Query("1", "Who built the bridge?", "Who built the bridge?", ("Is Ulm old?",))


@pytest.mark.parametrize(
    ("query", "addition", "right"),
    [
        (ASKED, "Ulm Minster", True),
        (ASKED, "Minster towers", True),
        (ASKED, "Ulm", False),
        (ASKED, "Ulm Minster city", True),
        (ASKED, "Ulm Minster in a big old city", False),
        (ASKED, "", False),
        (CLEAR, "", True),
        (CLEAR, "the bridge", True),
        (CLEAR, "Ulm", False),
    ],
)
def test_an_addition_is_right_if_it_holds_half_of_what_is_wanted_and_little_else(
    query: Query, addition: str, right: bool
) -> None:
    assert is_right(query, addition) is right


def test_only_new_content_words_are_wanted() -> None:
    assert wanted(ASKED) == {"ulm", "minster", "tower"}
    assert wanted(CLEAR) == frozenset()


def test_figures_are_counted_by_who_spoke_and_what_was_found() -> None:
    rows = [
        Expanded(ASKED, ("it",), ("Ulm Minster",), 1.0),
        Expanded(ASKED, (), (), 1.0),
        Expanded(CLEAR, (), (), 1.0),
        Expanded(
            Query("1", "It is old.", "The bridge is old.", ("Is it?",), by_user=False), (), (), 1.0
        ),
    ]
    found = {
        name: (part.of, part.right.mean, part.first) for name, part in resolutions(rows).items()
    }
    assert found == {
        "user's, clear": (1, 1.0, 0.0),
        "user's, ambiguous, pronoun": (1, 1.0, 1.0),
        "user's, ambiguous, no pointing word": (1, 0.0, 1.0),
        "user's, ambiguous": (2, 0.5, 1.0),
        "assistant's, ambiguous": (1, 0.0, 0.0),
    }
    assert figures(rows, None)["p50_ms"] == 1.0


def test_conversations_are_read_in_the_publishers_forms(tmp_path: Path) -> None:
    topic = {
        "number": 7,
        "turn": [
            {"number": 1, "raw_utterance": "Who built  it? "},
            {"number": 2, "raw_utterance": "Why?"},
        ],
    }
    (tmp_path / "cast2019_topics.json").write_text(json.dumps([topic]), encoding="utf-8")
    (tmp_path / "cast2019_resolved.tsv").write_text(
        "7_1\tWho built it?\n7_2\tWhy was it built?\n", encoding="utf-8"
    )
    assert list(queries(Dialogues.CAST, tmp_path)) == [
        Query("7", "Who built it?", "Who built it?", ()),
        Query("7", "Why?", "Why was it built?", ("Who built it?",), said_by_user=(True,)),
    ]
    turns = [
        {
            "number": 1,
            "utterance": "Rain ?",
            "graded": True,
            "rewrite_required": False,
            "rewritten_utterance": "rain",
        },
        {"number": 2, "utterance": "No .", "graded": False},
        {
            "number": 3,
            "utterance": "There ?",
            "graded": True,
            "rewrite_required": True,
            "rewritten_utterance": "In Ulm ?",
        },
    ]
    (tmp_path / "mudoco_weather.json").write_text(
        json.dumps({"dialogs": {"a": {"turns": turns}}}), encoding="utf-8"
    )
    assert list(queries(Dialogues.MUDOCO, tmp_path)) == [
        Query("a", "Rain ?", "Rain ?", ()),
        Query("a", "There ?", "In Ulm ?", ("Rain ?", "No .")),
    ]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cast2019_resolved"):
        list(queries(Dialogues.CAST, tmp_path))


def test_statements_are_found_by_the_expanded_query(
    tmp_path: Path, language: Language, encoder: Encoder
) -> None:
    known = {
        "1": "I play the violin.",
        "2": "I am allergic to peanuts.",
        "3": "I live in Ulm.",
        "4": "I have a cat.",
        "5": "I drive a bus.",
    }
    turns = [
        {
            "utterance": "Which violin should I buy?",
            "resolved_utterance": "Which violin should I buy?",
            "response": "Some.",
            "ptkb_provenance": [],
        },
        {
            "utterance": "How is it played?",
            "resolved_utterance": "How is the violin played?",
            "response": "So.",
            "ptkb_provenance": [1],
        },
    ]
    (tmp_path / "a_topics.json").write_text(
        json.dumps([{"number": "1-1", "ptkb": known, "turns": turns}]), encoding="utf-8"
    )
    rows = expanded(queries(Dialogues.IKAT, tmp_path), language, Console(quiet=True))
    assert rows[1].expansion == ("violin",)
    found = statements(rows, encoder)
    assert found is not None
    assert (found.of, found.expanded, found.human) == (1, 1.0, 1.0)
    assert statements(rows[:1], encoder) is None
