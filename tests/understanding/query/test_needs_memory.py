"""Utterances that memory cannot help with, and similar ones that it can."""

from datetime import UTC, datetime
from time import thread_time

from hotmem.models import Encoder, Language
from hotmem.understanding.query.analyzer import analyse
from hotmem.understanding.query.cues import COURTESIES
from tests.parts import ROOT
from tests.scored import scored

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

LINES = (ROOT / "eval/data/understanding/needs/d.tsv").read_text("utf-8").splitlines()
"""What a writer wrote whom the model was not trained on: style, kind, label, text."""


def written(label: str) -> list[str]:
    return [line.split("\t")[3] for line in LINES if line.split("\t")[2] == label]


def needed(encoder: Encoder, language: Language, text: str, *known: str) -> bool:
    doc, vector = language.parse([text], names=False)[0], encoder.encode([text])[0]
    return analyse(doc, MONDAY, known, vector=vector).needs_memory


@scored("text", written("memory"), floor=0.99)
def test_memory_is_asked_where_it_may_help(encoder: Encoder, language: Language, text: str) -> None:
    assert needed(encoder, language, text)


@scored("text", written("none"), floor=0.65)
def test_memory_is_not_asked_where_it_cannot(
    encoder: Encoder, language: Language, text: str
) -> None:
    assert not needed(encoder, language, text)


def test_stored_names_need_memory(encoder: Encoder, language: Language) -> None:
    assert not needed(encoder, language, "What is the capital of Mongolia?")
    assert needed(encoder, language, "What is the capital of Mongolia?", "Mongolia")


def test_without_the_encoder_of_the_model_all_but_courtesies_need_memory(
    language: Language,
) -> None:
    for text, expected in (("What is the capital of Mongolia?", True), ("Good morning!", False)):
        assert analyse(language.parse([text])[0], MONDAY).needs_memory is expected


def test_what_never_ends_takes_no_time() -> None:
    began = thread_time()
    assert not list(COURTESIES.finditer("so very too " * 2_000 + "long"))
    assert thread_time() - began < 1
