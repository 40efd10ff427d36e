"""Packing: the budget and the limits hold, every item is literal and listed once."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.block.packing import (
    EXPENDABLE,
    EXPENDABLE_UNCLEAR,
    MAX_SUMMARIES,
    PASSAGES_PER_TURN,
    pack,
)
from hotmem.block.rendering import CLOSING, OPENING, UNCERTAIN, Layout, render_line
from hotmem.models import TokenCounter
from hotmem.options import RecallOptions
from hotmem.ranking.answerability import Answerability
from hotmem.ranking.deduplication import MIN_FACT_RELEVANCE, deduplicate
from hotmem.types import Evidence, EvidenceKind, Layer, Mark, Query
from tests.ranking.statements import evidence, query, ranked, statements
from tests.thoroughness import examples

VECTOR = np.eye(1, 16, dtype=np.float32)[0]
"""An embedding."""

KNOWN = (Answerability.DOUBTFUL, Answerability.SOMETHING)


@settings(max_examples=examples(150), deadline=None)
@given(
    drawn=statements(),
    budget=st.integers(1, 1500),
    symbols=st.booleans(),
    facts=st.integers(0, 6),
    known=st.sampled_from(KNOWN),
)
def test_packed_items_fit_and_are_literal(
    tokens: TokenCounter,
    drawn: list[tuple[Evidence, float]],
    budget: int,
    symbols: bool,
    facts: int,
    known: Answerability,
) -> None:
    options = RecallOptions(symbols=symbols, max_facts=facts)
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
    assert kinds[EvidenceKind.MEMORY] <= facts
    assert kinds[EvidenceKind.SUMMARY] <= MAX_SUMMARIES
    passages = Counter(
        item.turn_ids[0] for item in packed.items if item.kind is EvidenceKind.PASSAGE
    )
    assert all(number <= PASSAGES_PER_TURN for number in passages.values())
    if packed.items:
        assert packed.text.startswith(OPENING) and packed.text.endswith(CLOSING)
        assert packed.text.count(OPENING) == packed.text.count(CLOSING) == 1
        assert len(packed.text.split("\n")) >= 4 + len(packed.items) - 1


def test_everything_is_packed_into_a_large_budget(tokens: TokenCounter) -> None:
    told = [
        (evidence(f"The dog {deed}.", key=key), 0.5)
        for key, deed in enumerate(("sleeps", "eats", "barks", "runs away"))
    ]
    assert (
        len(
            pack(
                query(), ranked(told), Answerability.SOMETHING, 1000, tokens.count, RecallOptions()
            ).items
        )
        == 4
    )


def test_statements_that_do_not_fit_are_skipped(tokens: TokenCounter) -> None:
    told = [
        (evidence("The dog " + "sleeps and " * 300 + "eats.", key=1), 0.9),
        (evidence("The dog barks.", key=2), 0.5),
    ]
    packed = pack(
        query(), ranked(told), Answerability.SOMETHING, 100, tokens.count, RecallOptions()
    )
    assert [item.text for item in packed.items] == ["The dog barks."]


def test_long_turns_are_trimmed_and_facts_are_not(tokens: TokenCounter) -> None:
    words = "Well, how are you? My dog Potola sleeps under the stairs."
    told = [(evidence(words, key=1), 0.6), (evidence(words, EvidenceKind.MEMORY, key=2), 0.5)]
    fact, quote = pack(
        query(), ranked(told), Answerability.SOMETHING, 1000, tokens.count, RecallOptions()
    ).items
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
    assert items(EXPENDABLE / 10, RecallOptions()) == 1


def test_explicitly_stored_memories_are_packed_at_low_relevance(tokens: TokenCounter) -> None:
    stored = [
        evidence(f"Note {key} on the dog.", EvidenceKind.MEMORY, key=key, vector=VECTOR)._replace(
            turns=(), turn_ids=()
        )
        for key in range(1, 10)
    ]
    packed = pack(
        query(),
        ranked([(one, MIN_FACT_RELEVANCE / 4) for one in stored]),
        Answerability.SOMETHING,
        1000,
        tokens.count,
        RecallOptions(max_facts=2),
    )
    assert len(packed.items) == 9 - int(EXPENDABLE // (MIN_FACT_RELEVANCE / 4))


@pytest.mark.parametrize(
    ("known", "expendable"),
    [
        (Answerability.SOMETHING, EXPENDABLE),
        (Answerability.DOUBTFUL, EXPENDABLE_UNCLEAR),
    ],
)
def test_the_least_relevant_statements_are_left_out(
    tokens: TokenCounter, known: Answerability, expendable: float
) -> None:
    """As many as would hold too little even together; a clear answer needs fewer lines."""
    best = (evidence("The dog sleeps.", key=1), 0.9)
    rest = [
        (evidence(f"Line {key} is about ferries.", key=key, vector=VECTOR), expendable / 4.5)
        for key in range(2, 12)
    ]
    packed = pack(query(), ranked([best, *rest]), known, 1000, tokens.count, RecallOptions())
    assert len(packed.items) == 1 + len(rest) - 4
    rest = [(found._replace(vector=None), relevance) for found, relevance in rest]
    packed = pack(query(), ranked([best, *rest]), known, 1000, tokens.count, RecallOptions())
    assert len(packed.items) == 1 + len(rest), "those without an embedding stay"


def test_the_uncertain_label_is_for_questions_and_optional(
    tokens: TokenCounter,
) -> None:
    found, asked = ranked([(evidence(), 0.3)]), query()
    told = replace(asked, analysis=replace(asked.analysis, question=False))

    def says(asked: Query, known: Answerability, options: RecallOptions) -> bool:
        return UNCERTAIN in pack(asked, found, known, 1000, tokens.count, options).text

    assert says(asked, Answerability.DOUBTFUL, RecallOptions())
    assert not says(asked, Answerability.SOMETHING, RecallOptions())
    assert not says(told, Answerability.DOUBTFUL, RecallOptions())
    assert not says(asked, Answerability.DOUBTFUL, RecallOptions(say_unknown=False))
