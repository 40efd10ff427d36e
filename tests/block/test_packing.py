"""Packing: the budget and the limits hold, every item is literal and listed once."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.block.packing import (
    LINE_OVERHEAD,
    MAX_SUMMARIES,
    MIN_GAIN,
    MIN_SHARE_OF_BEST,
    Packed,
    pack,
)
from hotmem.block.quotes import quotes
from hotmem.block.rendering import CLOSING, OPENING, Layout, render_line
from hotmem.models import TokenCounter
from hotmem.options import RecallOptions
from hotmem.ranking.neighbors import deduplicate
from hotmem.ranking.relevance import Answerability
from hotmem.types import Evidence, EvidenceKind, Layer, Mark, Quote
from tests.conversation import START
from tests.ranking.statements import evidence, query, ranked, statements
from tests.thoroughness import examples

VECTOR = np.eye(1, 16, dtype=np.float32)[0]
"""An embedding."""


def packed_for(told: list[tuple[Evidence, float]], tokens: TokenCounter, budget: int) -> Packed:
    known = Answerability.SOMETHING
    return pack(query(), ranked(told), known, budget, tokens.count, RecallOptions())


KNOWN = (Answerability.DOUBTFUL, Answerability.SOMETHING)


@settings(max_examples=examples(150))
@given(
    drawn=statements(),
    budget=st.integers(1, 1500),
    symbols=st.booleans(),
    known=st.sampled_from(KNOWN),
)
def test_packed_items_fit_and_are_literal(
    tokens: TokenCounter,
    drawn: list[tuple[Evidence, float]],
    budget: int,
    symbols: bool,
    known: Answerability,
) -> None:
    options = RecallOptions(symbols=symbols)
    packed = pack(query(), deduplicate(ranked(drawn))[0], known, budget, tokens.count, options)
    assert packed.tokens == tokens.count(packed.text) <= budget
    assert bool(packed.items) == bool(packed.text)
    for item in packed.items:
        assert item.text in packed.text and render_line(
            item, Layout(query().at.year, symbols)
        ) in packed.text.split("\n")
    marks = {item.mark for item in packed.items}
    assert marks <= {Mark.LOW} if known is Answerability.DOUBTFUL else marks <= set(Mark)
    kinds = Counter(item.kind for item in packed.items)
    assert kinds[EvidenceKind.SUMMARY] <= MAX_SUMMARIES
    if packed.items:
        assert packed.text.startswith(OPENING) and packed.text.endswith(CLOSING)
        assert packed.text.count(OPENING) == packed.text.count(CLOSING) == 1
        assert len(packed.text.split("\n")) == 2 + len(packed.items)


def test_everything_is_packed_into_a_large_budget(tokens: TokenCounter) -> None:
    told = [
        (evidence(f"The dog {deed}.", key=key), 0.5)
        for key, deed in enumerate(("sleeps", "eats", "barks", "runs away"))
    ]
    assert len(packed_for(told, tokens, 1000).items) == 4


def test_statements_that_do_not_fit_are_skipped(tokens: TokenCounter) -> None:
    told = [
        (evidence("The dog " + "sleeps and " * 300 + "eats.", key=1), 0.9),
        (evidence("The dog barks.", key=2), 0.5),
    ]
    packed = packed_for(told, tokens, 100)
    assert [item.text for item in packed.items] == ["The dog barks."]


def test_long_turns_are_trimmed_and_facts_are_not(tokens: TokenCounter) -> None:
    words = "Well, how are you? My dog Potola sleeps under the stairs."
    told = [(evidence(words, key=1), 0.6), (evidence(words, EvidenceKind.MEMORY, key=2), 0.5)]
    quote, fact = packed_for(told, tokens, 1000).items
    assert (fact.text, quote.text) == (words, "… My dog Potola sleeps under the stairs.")


def test_marks_by_answerability(
    tokens: TokenCounter,
) -> None:
    told = [
        (evidence("The dog sleeps.", key=1), 0.9),
        (evidence("The dog barks.", key=2), 0.06),
        (evidence("The dog eats.", key=3), 0.8),
    ]

    def marks(statements: list[tuple[Evidence, float]], known: Answerability) -> dict[str, Mark]:
        return {
            item.turn_ids[0]: item.mark
            for item in pack(
                query(), ranked(statements), known, 1000, tokens.count, RecallOptions()
            ).items
        }

    assert marks(told, Answerability.SOMETHING) == {
        "t1": Mark.HIGH,
        "t2": Mark.LOW,
        "t3": Mark.HIGH,
    }
    assert marks(told, Answerability.DOUBTFUL) == dict.fromkeys(("t1", "t2", "t3"), Mark.LOW)
    assert marks(told[1:2], Answerability.SOMETHING) == {"t2": Mark.MEDIUM}


def test_nothing_packs_to_nothing(tokens: TokenCounter) -> None:
    packed = pack(query(), [], Answerability.SOMETHING, 1000, tokens.count, RecallOptions())
    assert (packed.items, packed.text, packed.tokens) == ((), "", 0)


@pytest.mark.parametrize(
    "layers", [(Layer.SEMANTIC,), (Layer.SEMANTIC, Layer.VERBATIM), (Layer.FACTS,)]
)
def test_the_threshold_applies_to_every_layer(
    tokens: TokenCounter, layers: tuple[Layer, ...]
) -> None:
    def items(relevance: float, options: RecallOptions) -> int:
        found = ranked([(evidence(), relevance)], layers=[dict.fromkeys(layers, 1.0)])
        return len(pack(query(), found, Answerability.SOMETHING, 1000, tokens.count, options).items)

    assert items(0.3, RecallOptions(semantic_threshold=0.5)) == 0
    assert items(0.3, RecallOptions(semantic_threshold=0.2)) == 1
    assert items(0.001, RecallOptions()) == 1


def test_far_less_relevant_statements_are_left_out(tokens: TokenCounter) -> None:
    """However many they are: a list whose items are all of little relevance stays whole."""
    best = (evidence("The dog sleeps.", key=1), 0.9)
    told = [evidence(f"Line {key} is about ferries.", key=key, vector=VECTOR) for key in range(9)]

    def packed(relevances: list[tuple[Evidence, float]]) -> int:
        return len(packed_for(relevances, tokens, 1000).items)

    rest = [(one, 0.8 * MIN_SHARE_OF_BEST) for one in told]
    assert packed([best, *rest]) == 1 and packed(rest) == len(rest)
    unembedded = [(one._replace(vector=None), relevance) for one, relevance in rest]
    assert packed([best, *unembedded]) == 1 + len(rest), "those without an embedding stay"


def test_enough_is_given_when_no_line_left_is_worth_its_tokens(tokens: TokenCounter) -> None:
    """A line of little relevance is worth few tokens; the best is given however long it is."""
    short, long = "A ferry.", "A ferry goes " * 60
    best = (evidence("The dog sleeps.", key=1, vector=VECTOR), 0.9)
    worth = MIN_GAIN * (len(long) + LINE_OVERHEAD)

    def packed(text: str, relevance: float) -> int:
        one = evidence(text, key=2, vector=VECTOR)
        return len(packed_for([best, (one, relevance)], tokens, 1000).items)

    assert packed(long, 0.8 * worth) == 1 and packed(short, 0.8 * worth) == 2
    assert packed(long, 1.3 * worth) == 2
    alone = [(evidence("A ferry goes out. " * 800, key=2, vector=VECTOR), 0.1)]
    assert len(packed_for(alone, tokens, 9000).items) == 1


def test_a_fact_whose_words_were_not_found_is_not_worth_a_line() -> None:
    """Unless it is what holds now, of the time asked about, or no words were looked for."""
    said = (evidence("The dog sleeps.", key=1), 0.9)
    fact = evidence("Ana lives in Oslo.", EvidenceKind.MEMORY, key=3)._replace(
        quote=Quote(7, "I live in Oslo.", START)
    )
    former = evidence("Ana lives in Rome.", EvidenceKind.MEMORY, key=2)._replace(replaced_by=3)
    moved = "I live in Oslo."

    def told(*statements: tuple[Evidence, float]) -> list[str]:
        return [one.evidence.text for one in quotes(ranked(statements))[0]]

    assert told(said, (fact, 0.8)) == ["The dog sleeps."]
    assert moved in told(said, (fact, 0.8), (former, 0.5))
    assert told((fact, 0.8)) == [moved]
    (lone, window) = ranked([said, (fact, 0.8)])
    window = replace(window, in_window=True)
    assert moved in [one.evidence.text for one in quotes([lone, window])[0]]


def test_a_reading_is_shown_where_it_says_who_is_meant() -> None:
    """A reading that only has another name for the speaker repeats the quote."""

    def reading(words: str, read: str) -> str:
        passage = evidence(words, key=7)._replace(speaker=None)
        fact = evidence(read, EvidenceKind.MEMORY, key=3)._replace(
            quote=Quote(7, words, passage.said_at)
        )
        return quotes(ranked([(passage, 0.9), (fact, 0.8)]))[0][0].evidence.reading

    assert not reading("I lent Kim my bike, and she rides it.", "The user lent Kim a bike.")
    assert not reading("My dog has a tablet for her thyroid.", "The user's dog has a tablet.")
    assert reading("She rides it to work.", "Kim rides it to work.") == "Kim rides it to work."


def test_a_fact_gives_way_to_the_words_it_was_read_from(tokens: TokenCounter) -> None:
    words = "I can't stand coffee, except on long night shifts."
    passage = evidence(words, key=7)
    fact = evidence("Ana can't stand coffee.", EvidenceKind.MEMORY, key=3)._replace(
        memory_id="m3", quote=Quote(7, words, passage.said_at), turns=(1, 2), turn_ids=("t1", "t2")
    )
    stored = evidence("Ana is left-handed.", EvidenceKind.MEMORY, key=4)
    alone, known = [(fact, 0.9), (stored, 0.5)], Answerability.SOMETHING
    for relevance, told in ((0.8, [*alone, (passage, 0.8)]), (0.9, alone)):
        found, _ = quotes(ranked(told))
        first, second = pack(query(), found, known, 1000, tokens.count, RecallOptions()).items
        assert (first.text, first.kind, first.memory_id) == (words, EvidenceKind.PASSAGE, "m3")
        assert first.relevance == pytest.approx(relevance, abs=1e-3)
        assert (second.text, second.kind) == (stored.text, EvidenceKind.MEMORY)
        assert len(first.turn_ids) == 1


def test_quotation_marks_in_a_quote_do_not_end_it(tokens: TokenCounter) -> None:
    told = evidence('She said "no" (high)', key=1)
    packed = packed_for([(told, 0.5)], tokens, 1000)
    (line,) = packed.text.split("\n")[1:-1]
    assert line.count('"') == 2 and line.count("(") == 1
