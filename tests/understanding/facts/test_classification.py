"""Classification of statements that are not in the training data, and tags."""

import numpy as np
import pytest

from hotmem.models import CachedEncoder, Language
from hotmem.types import Category
from hotmem.understanding.facts.classification import classify, features
from hotmem.understanding.facts.tags import MAX_TAGS, circumstance_tags, extract_tags
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored(("text", "category"), CASES["plain_statements_of_each_category"], floor=0.85)
def test_plain_statements_of_each_category(
    encoder: CachedEncoder, language: Language, text: str, category: str
) -> None:
    found = classify(language.parse([text])[0], encoder.encode([text])[0])
    assert found.category is Category(category)
    assert 0 < found.confidence <= 1 and 1 <= found.importance <= 5


@pytest.mark.parametrize("text", ["x", "??!", "喂", "a " * 2000])
def test_any_text_has_a_category(encoder: CachedEncoder, language: Language, text: str) -> None:
    assert classify(language.parse([text])[0], encoder.encode([text])[0]).category in Category


def test_a_vector_of_another_dimension_is_ignored(language: Language) -> None:
    doc = language.parse(["The dentist is on Tuesday."])[0]
    assert classify(doc, np.ones(3, dtype=np.float32)) == classify(
        doc, np.zeros(7, dtype=np.float32)
    )


def test_the_norm_of_a_block_of_features_is_its_weight(language: Language) -> None:
    seen = features(language.parse(["Feed the cat."])[0])
    words = [value for name, value in seen.items() if ":" not in name]
    assert np.isclose(np.square(words).sum(), 2.5**2)


def test_tags_are_the_topics(language: Language) -> None:
    doc = language.parse(["The blue bicycle needs a new chain before the race in Utrecht."])[0]
    assert extract_tags(doc) == ("bicycle", "chain", "race", "utrecht")
    long = language.parse(
        [
            "The cat, the dog, the cow, the horse, the goose, the sheep and the goat live on "
            "the farm."
        ]
    )[0]
    assert len(extract_tags(long)) == MAX_TAGS


def test_tags_of_circumstances() -> None:
    assert circumstance_tags("Pay the electrician as soon as possible!") == ("urgent",)
    assert "recurring" in circumstance_tags("Water the ficus every Sunday.")
    assert circumstance_tags("The ficus is green.") == ()
