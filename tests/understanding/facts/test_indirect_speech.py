"""Parts of utterances in the third person."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.facts.indirect_speech import third_person
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


def reported(
    language: Language, text: str, part: str | None = None, speaker: str = "the user"
) -> str:
    (doc,) = language.parse([text])
    start = text.index(part or text)
    return third_person(doc, (start, start + len(part or text)), speaker)


@scored(("text", "expected"), CASES["an_utterance_becomes_a_sentence_of_its_own"])
def test_an_utterance_becomes_a_sentence_of_its_own(
    language: Language, text: str, expected: str
) -> None:
    assert reported(language, text) == expected


def test_a_part_without_its_subject_gets_it_back(language: Language) -> None:
    text = "I've lost my job and moved to Denver"

    assert reported(language, text, "moved to Denver") == "The user has moved to Denver."


def test_a_named_speaker_replaces_the_first_person(language: Language) -> None:
    assert reported(language, "I hate my job", speaker="Ana") == "Ana hates Ana's job."


@scored("text", ["um", "uh er", "..."], floor=1.0)
def test_hesitation_alone_is_nothing(language: Language, text: str) -> None:
    assert reported(language, text) == ""


@scored("text", CASES["codes_are_kept_to_the_digit"], floor=1.0)
def test_codes_are_kept_to_the_digit(language: Language, text: str) -> None:
    said = text.removeprefix("my ").lower()

    assert said in reported(language, text).lower()


FIRST = re.compile(r"(?<![\w'])(?:i|me|my|myself|we|us|our)(?![\w'])", re.IGNORECASE)
DIGITS = ("nought", "one", "two", "three", "seven", "nine", "0", "0", "7", "double")


@settings(max_examples=60)
@given(
    subject=st.sampled_from(["I", "we", "my sister", "my wife and I", "nobody", "our Sam", "she"]),
    verb=st.sampled_from(["told me about", "hated", "can't stand", "will sell us", "might lose"]),
    rest=st.sampled_from(
        ["my car", "our house, um, in Leeds", "the the dog", "what I said to him"]
    ),
    tail=st.sampled_from(
        ["", ".", "!", " because I moved", ", and my son did it for me", " you know"]
    ),
)
def test_no_first_person_is_left(
    language: Language, subject: str, verb: str, rest: str, tail: str
) -> None:
    text = reported(language, f"{subject} {verb} {rest}{tail}")

    assert text[0].isupper()
    assert text[-1] in ".?"
    assert not FIRST.search(text), text
    assert "um" not in text.split()
    assert "the the" not in text


@settings(max_examples=60)
@given(
    code=st.lists(st.sampled_from(DIGITS), min_size=1, max_size=9),
    before=st.sampled_from(
        ["my pin is", "the gate code is", "the password is pancake", "call me on"]
    ),
)
def test_numbers_are_never_dropped_or_collapsed(
    language: Language, code: list[str], before: str
) -> None:
    said = " ".join(code)

    assert said in reported(language, f"{before} {said}")


@settings(max_examples=60)
@given(text=st.text(alphabet="Iimy abe'\"?.,-\n0né😀", max_size=40), stop=st.integers(0, 40))
def test_any_text_and_span_is_accepted(language: Language, text: str, stop: int) -> None:
    (doc,) = language.parse([text])

    sentences = third_person(doc, (min(stop, 3), stop), "the user")

    assert sentences == sentences.strip()
