"""Tokens are counted with tiktoken's own tables, which are shipped."""

import base64
import gzip
import hashlib

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.errors import InvalidInput
from hotmem.models import TokenCounter
from hotmem.models.files import read_shipped
from hotmem.models.tokens import TABLES
from tests.models.test_encoder import SENTENCES

PUBLISHED = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""Checksums of the tables as tiktoken knows them."""


@pytest.fixture(scope="module", params=TABLES)
def counter(request: pytest.FixtureRequest) -> TokenCounter:
    return TokenCounter.load(request.param)


def test_known_texts_have_known_counts(counter: TokenCounter) -> None:
    assert counter.count("") == 0
    assert counter.count("My dog is called Rex.") == 6


def test_names_of_special_tokens_are_plain_words(counter: TokenCounter) -> None:
    assert counter.count("<|endoftext|> <|endofprompt|>") > 2


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_encoding_is_tiktoken_s_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = gzip.decompress(read_shipped(f"{name}.tiktoken.gz"))
    assert hashlib.sha256(table).hexdigest() == PUBLISHED[name]
    rows = (line.split() for line in table.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in rows}
    monkeypatch.setattr("tiktoken_ext.openai_public.load_tiktoken_bpe", lambda *_, **__: ranks)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    published, ours = tiktoken.get_encoding(name), TokenCounter.load(name)
    for text in [*SENTENCES, "It's £1,250.75\n\n– she'll 它叫什么名字 🐕 <|endoftext|>  "]:
        assert ours.count(text) == len(published.encode(text, disallowed_special=()))


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Use one of: o200k_base"):
        TokenCounter.load("klingon")


@given(st.text(max_size=80))
@settings(max_examples=200)
def test_any_text_can_be_counted(counter: TokenCounter, text: str) -> None:
    assert 0 <= counter.count(text) <= len(text.encode())
