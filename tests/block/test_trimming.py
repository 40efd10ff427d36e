"""Trimming: enough content, literally, in order, and no removable sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.block.quotes import ELLIPSIS, KEPT_SHARE, PROTECTED, trim
from hotmem.text.stemming import stems
from hotmem.text.word_sets import STOP_WORDS
from tests.conversation import stands_in
from tests.tables import tables

CASES = tables(__file__)

SENTENCES = CASES["sentences"]

spoken = st.lists(
    st.tuples(st.sampled_from(SENTENCES), st.sampled_from([" ", "\n", "  "])),
    min_size=1,
    max_size=8,
).map(lambda parts: "".join(sentence + space for sentence, space in parts).rstrip())
questions = st.sampled_from(
    [
        "",
        "Where does my sister live?",
        "What about the mill and the ferry?",
        "How much were the tickets?",
    ]
).map(stems)
STOPS = stems(" ".join(STOP_WORDS))


def content(text: str) -> frozenset[str]:
    """Stems of its content words."""
    return stems(text) - STOPS


def parts(text: str) -> list[str]:
    """The sentences of a text made of the ones above, in order.

    Ellipses of whole sentences are no sentences.
    """
    found = []
    while text := text.lstrip():
        sentence = next((one for one in SENTENCES if text.startswith(one)), ELLIPSIS)
        assert text.startswith(sentence)
        found.append(sentence)
        text = text[len(sentence) :]
    return [one for one in found if one != ELLIPSIS]


@given(spoken | st.text(max_size=200), questions)
def test_enough_content_is_kept_literally_and_in_order(text: str, asked: frozenset[str]) -> None:
    short = trim(text, asked)
    assert stands_in(short, text)
    assert len(content(short)) >= KEPT_SHARE * len(content(text))
    assert len(short) <= len(text)


@given(spoken, questions)
def test_no_removable_sentence_is_kept(text: str, asked: frozenset[str]) -> None:
    kept = parts(trim(text, asked))
    assert kept
    for place in range(len(kept)):
        left = [*kept[:place], *kept[place + 1 :]]
        assert (
            not left
            or PROTECTED.search(kept[place])
            or content(kept[place]) & asked
            or len(content(" ".join(left))) < KEPT_SHARE * len(content(text))
        )


@given(spoken, questions)
def test_removed_sentences_are_replaced_by_an_ellipsis(text: str, asked: frozenset[str]) -> None:
    short = trim(text, asked)
    assert short == text if parts(short) == parts(text) else ELLIPSIS in short
    assert f" {ELLIPSIS} {ELLIPSIS}" not in short


@given(spoken, questions)
def test_trimming_again_removes_whole_sentences(text: str, asked: frozenset[str]) -> None:
    once = trim(text, asked)
    twice = trim(once, asked)
    assert stands_in(twice, once) and len(content(twice)) >= KEPT_SHARE * len(content(once))


@given(
    st.lists(
        st.sampled_from(
            ["well", "my", "Dog", "ran,", "off", "(twice)", "3", "ü", "🐕", "Dr", "no-one"]
        ),
        max_size=60,
    ).map(" ".join),
    questions,
)
def test_a_single_sentence_is_not_trimmed(text: str, asked: frozenset[str]) -> None:
    bare = text.rstrip(",")
    assert trim(bare, asked) == bare and trim(f"{text}?", asked) == f"{text}?"
    assert trim(f"{bare},", asked) == f"{bare}{ELLIPSIS}"


@pytest.mark.parametrize(("text", "question", "short"), CASES["trimming_by_example"])
def test_trimming_by_example(text: str, question: str, short: str) -> None:
    assert trim(text, stems(question)) == short


def test_sentences_with_query_words_are_removed_last() -> None:
    tale = (
        "My sister lives in Porto because of a good job at the hospital."
        " I drink tea. He paints doors."
    )
    tea, doors = (
        trim(tale, stems("Do I drink tea?")),
        trim(tale, stems("Who paints the doors?")),
    )
    assert ("tea" in tea, "doors" in tea) == (True, False)
    assert ("tea" in doors, "doors" in doors) == (False, True)
