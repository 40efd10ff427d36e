"""Truecasing of recognised speech, without moving a letter."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.facts.corrections import lacks_case, sentence_starts, truecase
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

WEDNESDAY = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)


def restored(language: Language, text: str, *known: str) -> str:
    (doc,) = language.parse([text])
    return truecase(doc, sentence_starts(doc), known)


@scored(("text", "none"), CASES["text_that_lacks_case"], floor=0.85)
def test_text_that_lacks_case(text: str, none: bool) -> None:
    assert lacks_case(text) is none


@scored(("heard", "written"), CASES["names_and_sentence_starts_are_capitalised"], floor=1.0)
def test_names_and_sentence_starts_are_capitalised(
    language: Language, heard: str, written: str
) -> None:
    assert restored(language, heard) == written


def test_known_names_are_capitalised(language: Language) -> None:
    assert (
        restored(language, "i saw quenby marsh at the gym", "Quenby Marsh")
        == "I saw Quenby Marsh at the gym"
    )


@settings(max_examples=25)
@given(text=st.text(alphabet="abcdeiéßŉ '.", min_size=1, max_size=60))
def test_no_letter_moves(language: Language, text: str) -> None:
    assert restored(language, text).casefold() == text.casefold() and len(
        restored(language, text)
    ) == len(text)
