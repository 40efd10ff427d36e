"""How usage is measured.

Our triples, strangers, and the fit on invented features.
"""

from dataclasses import replace

import numpy as np
import pytest

from eval.learning import usage
from eval.learning.usage import (
    SAME_MATTER,
    TAUGHT,
    Triple,
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

REFERRED, UNUSED = UsageKind.REFERENCE, UsageKind.UNUSED
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


def test_the_shipped_model_on_triples(
    encoder: CachedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "RESAMPLES", 80)
    held = halves()[1][::10]
    found = measure(encoder, held)
    assert found.triples == len(held)
    assert sum(count for row in found.confusion.values() for count in row.values()) == len(held)
    assert 0 <= found.macro_f1.low <= found.macro_f1.mean <= found.macro_f1.high <= 1
    right = sum(found.confusion[kind][kind] for kind in KINDS)
    sorts = {one.sort: sum(other.sort == one.sort for other in held) for one in held}
    assert sum(found.by_sort[sort] * count for sort, count in sorts.items()) == pytest.approx(right)
