"""The shared cache of embeddings and parses."""

from pathlib import Path

import numpy as np

from eval.cache import DiskCache, DiskCachedEncoder, DiskCachedLanguage
from hotmem.models import CachedEncoder, Encoder, Language
from tests.letters import LetterEncoder

TEXTS = ["Ana's dog is called Potola.", "She lives in Graz.", "Ana's dog is called Potola."]


def test_values_are_made_once_for_each_text(tmp_path: Path) -> None:
    made: list[str] = []

    def make(texts: list[str]) -> list[bytes]:
        made.extend(texts)
        return [text.encode() for text in texts]

    cache, other = DiskCache(tmp_path / "cache.db"), DiskCache(tmp_path / "cache.db")
    assert cache.values("model", TEXTS, make) == [text.encode() for text in TEXTS]
    assert other.values("model", [*TEXTS, "new"], make)[-1] == b"new"
    assert made == [TEXTS[0], TEXTS[1], "new"]
    assert other.values("another", ["new"], make) == [b"new"]
    assert made[-2:] == ["new", "new"]


def test_vectors_are_those_of_the_encoder(tmp_path: Path, encoder: Encoder) -> None:
    cached = DiskCachedEncoder(encoder, DiskCache(tmp_path / "cache.db"))
    first, again = cached.encode(TEXTS), cached.encode(TEXTS)
    assert first.shape == (3, encoder.dimension)
    assert np.array_equal(first, again)
    assert np.allclose(first, encoder.encode(TEXTS), atol=1e-6)
    assert cached.encode([]).shape == (0, encoder.dimension)


def test_readings_keep_the_signs_of_the_word_pieces(tmp_path: Path, encoder: CachedEncoder) -> None:
    cached = DiskCachedEncoder(encoder, DiskCache(tmp_path / "cache.db"))
    cached.encode_tokens(TEXTS)
    for kept, fresh in zip(cached.encode_tokens(TEXTS), encoder.encode_tokens(TEXTS), strict=True):
        assert len(fresh.token_signs) and np.array_equal(kept.token_signs, fresh.token_signs)
        assert np.allclose(kept.vector, fresh.vector, atol=1e-6)
    assert [
        len(reading.token_states)
        for reading in DiskCachedEncoder(
            LetterEncoder(), DiskCache(tmp_path / "cache.db")
        ).encode_tokens(TEXTS)
    ] == [0, 0, 0]


def test_parses_are_those_of_the_language_model(tmp_path: Path, language: Language) -> None:
    cached = DiskCachedLanguage(language, DiskCache(tmp_path / "cache.db"))
    cached.parse(TEXTS)
    for kept, fresh in zip(cached.parse(TEXTS), language.parse(TEXTS), strict=True):
        assert [
            (token.text, token.lemma_, token.pos_, token.dep_, token.head.i) for token in kept
        ] == [(token.text, token.lemma_, token.pos_, token.dep_, token.head.i) for token in fresh]
        assert [(entity.text, entity.label_) for entity in kept.ents] == [
            (entity.text, entity.label_) for entity in fresh.ents
        ]
        assert [chunk.text for chunk in kept.noun_chunks] == [
            chunk.text for chunk in fresh.noun_chunks
        ]
        assert [sentence.text for sentence in kept.sents] == [
            sentence.text for sentence in fresh.sents
        ]
        assert [token.is_stop for token in kept] == [token.is_stop for token in fresh]


def test_known_sentences_are_parsed_by_the_language_itself(
    tmp_path: Path, language: Language
) -> None:
    cached = DiskCachedLanguage(language, DiskCache(tmp_path / "cache.db"))
    doc = cached.parse_sentences("I live in Rome It is hot", [0, 15])
    assert [sentence.text for sentence in doc.sents] == ["I live in Rome", "It is hot"]
