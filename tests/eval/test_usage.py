"""How usage is measured.

Our triples, the design's rule by arithmetic, strangers, and the fit on invented features.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.learning import usage
from eval.learning.usage import (
    DESIGN,
    FITTED,
    SAME_MATTER,
    TAUGHT,
    Triple,
    by_design,
    fitted,
    halves,
    measure,
    strangers,
    table,
    triples,
)
from hotmem.feedback.usage import KINDS, UsageModel
from hotmem.feedback.usage_features import FEATURES
from hotmem.models import CachedEncoder
from hotmem.types import UsageKind

QUOTED, REFERRED, INFLUENCED, UNUSED = (
    UsageKind.QUOTE,
    UsageKind.REFERENCE,
    UsageKind.INFLUENCE,
    UsageKind.UNUSED,
)
DOG = Triple(
    "Ana: My dog is called Potola.", "What's my dog called?", "Potola.", REFERRED, "one-word"
)


def test_our_triples_are_enough_and_of_all_kinds() -> None:
    found = triples()
    assert len(found) >= 400
    assert min(sum(one.kind is kind for one in found) for kind in KINDS) >= 50
    assert {"paraphrase", "negation", "refusal", "coincidence"} <= {one.sort for one in found}
    assert all(one.item.strip() and one.question.strip() and one.reply.strip() for one in found)


def test_nothing_that_is_held_back_is_fitted_on() -> None:
    half, held = halves()
    assert len(half) + len(held) == len(triples())
    assert not {(one.item, one.reply) for one in (*half, *triples(TAUGHT))} & {
        (one.item, one.reply) for one in held
    }


def test_the_speaker_stands_beside_the_item() -> None:
    assert (DOG.as_item.speaker, DOG.as_item.text) == ("Ana", "My dog is called Potola.")
    nobody = replace(DOG, item="The code is 4711: don't tell.").as_item
    assert (nobody.speaker, nobody.text) == (None, "The code is 4711: don't tell.")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("You said: my dog is called Potola, I think.", QUOTED),
        ("Your dog, Potola.", REFERRED),
        ("Potola.", UNUSED),
        ("", UNUSED),
    ],
)
def test_the_designs_rule(reply: str, kind: UsageKind) -> None:
    """Of "my dog is called Potola" two words of five are 40 %, one is 20 %."""
    assert by_design(replace(DOG, reply=reply)) is kind


@given(st.text(min_size=1, max_size=40), st.text(max_size=40))
def test_the_designs_rule_knows_no_influence(item: str, reply: str) -> None:
    assert by_design(replace(DOG, item=item, reply=reply)) is not INFLUENCED


def test_strangers_are_of_another_matter(encoder: CachedEncoder) -> None:
    asked = [
        DOG,
        replace(DOG, item="Ana: My dog's name is Potola."),
        Triple("Ana: The garage code is 4711.", "What's the code?", "4711.", REFERRED, "number"),
        Triple(
            "Ana: My sister plays the cello.",
            "What does she play?",
            "The cello.",
            REFERRED,
            "plain",
        ),
    ]
    found = strangers(encoder, asked)
    assert [(one.question, one.reply) for one in found] == [
        (one.question, one.reply) for one in asked
    ]
    assert {one.kind for one in found} == {UNUSED}
    own, other = (
        encoder.encode([one.as_item.text for one in asked]),
        encoder.encode([one.as_item.text for one in found]),
    )
    assert (np.vecdot(own, other) < SAME_MATTER).all()


def test_features_of_triples_are_rows_of_numbers(encoder: CachedEncoder) -> None:
    rows = table(encoder, [DOG, replace(DOG, reply="I don't know.")])
    assert rows.shape == (2, len(FEATURES)) and np.isfinite(rows).all()
    assert rows[0, FEATURES.index("denies_knowledge")] < rows[1, FEATURES.index("denies_knowledge")]


def test_what_is_fitted_is_read_back_and_tells_kinds_apart() -> None:
    random = np.random.default_rng(1)
    kinds = np.repeat(np.arange(len(KINDS)), 30)
    seen = random.normal(0, 0.1, (len(kinds), len(FEATURES)))
    seen[np.arange(len(kinds)), kinds] += 3
    model = UsageModel.from_dict(
        fitted(seen, kinds, np.ones(len(kinds)), np.full(len(KINDS), 1 / len(KINDS)))
    )
    likely = model.probabilities(seen)
    assert likely.sum(axis=1) == pytest.approx(np.ones(len(kinds)))
    assert (likely.argmax(axis=1) == kinds).mean() > 0.95


def test_a_kind_taken_to_be_frequent_is_found_more_often() -> None:
    random = np.random.default_rng(1)
    seen, kinds = random.normal(size=(80, len(FEATURES))), np.tile(np.arange(len(KINDS)), 20)
    even, mostly = (
        UsageModel.from_dict(fitted(seen, kinds, np.ones(80), np.array(shares)))
        .probabilities(seen)[:, 3]
        .mean()
        for shares in ([0.25, 0.25, 0.25, 0.25], [0.1, 0.1, 0.1, 0.7])
    )
    assert mostly > even


def test_both_rules_on_the_same_triples(
    encoder: CachedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "RESAMPLES", 80)
    held = halves()[1][::10]
    found = measure(encoder, held)
    assert found.triples == len(held) and set(found.rules) == {DESIGN, FITTED}
    for rule in found.rules.values():
        assert sum(count for row in rule.confusion.values() for count in row.values()) == len(held)
        assert 0 <= rule.macro_f1.low <= rule.macro_f1.mean <= rule.macro_f1.high <= 1
        right = sum(rule.confusion[kind][kind] for kind in KINDS)
        sorts = {one.sort: sum(other.sort == one.sort for other in held) for one in held}
        assert sum(rule.by_sort[sort] * count for sort, count in sorts.items()) == pytest.approx(
            right
        )
    assert found.lead.mean == pytest.approx(
        found.rules[FITTED].macro_f1.mean - found.rules[DESIGN].macro_f1.mean
    )
    assert found.lead.low > 0, "ahead of the design's rule"
