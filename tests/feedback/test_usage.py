"""Usage detection: typical replies of bots, and properties."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.feedback.usage import UsageModel, detect_usage
from hotmem.feedback.usage_features import (
    PERSON,
    RunFinder,
    numbers_and_months,
    person_neutral_words,
    split_clauses,
)
from hotmem.models import CachedEncoder
from hotmem.types import Item, UsageKind
from tests.letters import LetterEncoder
from tests.ranking.statements import QUOTE
from tests.tables import tables

CASES = tables(__file__)

LETTERS = LetterEncoder()


def item(text: str, speaker: str | None = "Ana") -> Item:
    return replace(QUOTE, text=text, speaker=speaker)


@pytest.mark.parametrize(("text", "asked", "reply", "kind"), CASES["typical_replies"])
def test_typical_replies(
    encoder: CachedEncoder, text: str, asked: str, reply: str, kind: str
) -> None:
    (use,) = detect_usage(encoder, [item(text)], asked, reply)
    assert use.kind is UsageKind(kind)
    assert (use.strength > 0.5) is (use.kind is not UsageKind.UNUSED)


def test_items_are_independent_and_in_order(encoder: CachedEncoder) -> None:
    items = [
        item("My dog is called Potola."),
        item("The meeting is on the fourth floor."),
        item("My sister plays the violin in Ghent."),
    ]
    uses = detect_usage(encoder, items, "What's my dog called?", "Your dog is called Potola.")
    assert [use.item for use in uses] == items
    assert uses[0].strength > 2 * max(use.strength for use in uses[1:])


def test_only_what_was_heard_counts(encoder: CachedEncoder) -> None:
    items = [item("My dog is called Potola."), item("My sister lives in Braga.")]
    whole = "Your dog is called Potola. And your sister lives in Braga."
    heard = whole[: whole.index("And")]
    assert (
        detect_usage(encoder, items, "What do you know of us?", whole)[1].strength
        > detect_usage(encoder, items, "What do you know of us?", heard)[1].strength
    )


def test_visible_words_are_weaker_evidence(encoder: CachedEncoder) -> None:
    items = [item("My dog is called Potola.")]
    asked, reply = "What's her name?", "It's Potola!"
    (fresh,) = detect_usage(encoder, items, asked, reply)
    (seen,) = detect_usage(encoder, items, asked, reply, visible=["Potola ate a sock today."])
    assert seen.strength < fresh.strength


@pytest.mark.parametrize(
    "reply", ["Ja.", "はい、そうです。", "\U0001f436", "word " * 5000, "Potola " * 400 + "?"]
)
def test_any_reply_is_accepted(encoder: CachedEncoder, reply: str) -> None:
    (use,) = detect_usage(
        encoder, [item("My dog is called Potola.")], "What's my dog called?", reply
    )
    assert 0 <= use.strength <= 1


def test_a_longer_block_makes_each_item_less_likely(encoder: CachedEncoder) -> None:
    alone = detect_usage(
        encoder, [item("My dog is called Potola.")], "What's my dog called?", "Potola."
    )[0]
    among = detect_usage(
        encoder,
        [item("My dog is called Potola."), *[item(f"The code is {n}.") for n in range(20)]],
        "What's my dog called?",
        "Potola.",
    )[0]
    assert among.strength < alone.strength


def test_an_items_own_vector_is_used(encoder: CachedEncoder) -> None:
    text = "My dog is called Potola."
    given = replace(item(text), vector=encoder.encode([text])[0])
    assert detect_usage(encoder, [given], "What's my dog called?", "Potola!") == detect_usage(
        encoder, [item(text)], "What's my dog called?", "Potola!"
    )


words = st.text(max_size=80)


@settings(max_examples=25)
@given(words, words, words)
def test_strength_is_a_probability(text: str, asked: str, reply: str) -> None:
    (use,) = detect_usage(LETTERS, [item(text)], asked, reply)
    assert 0 <= use.strength <= 1


@given(words, words)
def test_silence_uses_nothing(text: str, asked: str) -> None:
    (use,) = detect_usage(LETTERS, [item(text)], asked, "")
    assert use.kind is UsageKind.UNUSED and use.strength == 0


@given(words)
def test_words_of_the_query_are_no_evidence(text: str) -> None:
    (use,) = detect_usage(LETTERS, [item(text)], text, text)
    assert use.kind is UsageKind.UNUSED


def test_split_clauses() -> None:
    assert split_clauses("I'd wait, because it rains. Take the bus; it's dry - and warm!") == [
        "I'd wait",
        "because it rains.",
        "Take the bus;",
        "it's dry",
        "and warm!",
    ]


def test_numbers_and_months() -> None:
    assert numbers_and_months("twelve of the 1,150 in June") == {"12", "1150", "june"}


def test_runs_ignore_grammatical_person() -> None:
    runs = RunFinder(person_neutral_words("You said your dog ate my sock")).shared(
        person_neutral_words("I think my dog ate the sock")
    )
    assert runs.longest == (PERSON, "dog", "ate", PERSON, "sock") and runs.total == 5


def test_model_with_other_features_is_rejected() -> None:
    with pytest.raises(ValueError, match="Fit it again"):
        UsageModel.from_dict({"features": ["one"], "kinds": []})
