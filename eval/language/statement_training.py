"""Train and cross-validate the models of wishes and of what is not meant.

`python -m eval train-wishes` and `train-meant`. Folders of `eval/data/understanding` have a file of
each writer. A fold holds out one. Everyday statements are added to the second, as they are longer
than those of the writers. Turns of the reader's training
batches and everyday questions are added to the wishes as ordinary talk; as nobody labelled the
wishes among them, those that name a topic of wishes are left out, and those that a first model is
sure of.
"""

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Final, TypeAlias

from eval.arguments import AsJson, Most, Out
from eval.arrays import save_arrays
from eval.files import tsv_rows
from eval.language.term_training import everyday, fit_terms, named, ordinary_turns
from eval.output import print_figures, print_json
from eval.understanding import data
from hotmem.models import load_language
from hotmem.understanding.facts.instructions.extraction import MIN_WISH
from hotmem.understanding.facts.instructions.safety import exclusive_topics, wish_ids
from hotmem.understanding.private_statements import MIN_UNMEANT
from hotmem.understanding.query.commands import term_ids
from hotmem.understanding.term_model import Tensors, TermIds, TermModel, logistic

SURELY: Final = 0.95
"""Probability from which the first model is sure of a wish."""

ORDINARY_WEIGHT: Final = 0.5
"""Weight of an everyday statement, which is meant, beside one that a writer labelled."""

REQUESTS: Final = (
    "Tell me",
    "Tell me everything about",
    "Give me the list:",
    "List all:",
    "Show me",
)
"""How a request to tell something begins, put before the questions."""

Example: TypeAlias = tuple[str, TermIds, bool]
"""Who wrote a text ("" for an ordinary turn), the ids of its terms, and whether it is a wish, or
not meant."""

Fit: TypeAlias = Callable[[Sequence[Example]], Tensors]


def examples(limit: int | None = None) -> list[Example]:
    """The labelled texts, and ordinary turns; of each file or batch at most `limit`."""
    rows = _labelled("wishes", "wish", limit)
    turns = (turn.text for turn in ordinary_turns())
    asked = [one["text"] for one in everyday("questions")]
    asked += [f"{start} {text}" for start, text in zip(cycle(REQUESTS), asked, strict=False)]
    ordinary = (text for text in dict.fromkeys((*turns, *asked)) if not exclusive_topics(text))
    rows += [("", text, False) for text in islice(ordinary, limit)]
    docs = load_language().parse([text for _, text, _ in rows])
    return [
        (writer, wish_ids(doc[:]), wish) for (writer, _, wish), doc in zip(rows, docs, strict=True)
    ]


def _labelled(folder: str, label: str, limit: int | None) -> list[tuple[str, str, bool]]:
    """The writer, the text and whether it has a label, of the files of a folder."""
    return [
        (file.stem, text, found == label)
        for file in sorted((data.FOLDER / folder).glob("*.tsv"))
        for _, text, found in tsv_rows(file)[:limit]
    ]


def trained(chosen: Sequence[Example]) -> Tensors:
    """Fit the model, without the ordinary turns that a first one takes for wishes."""
    first = TermModel.of(_fitted("wish", [one for one in chosen if one[0]]), "wish")
    kept = [one for one in chosen if one[0] or logistic(first.logit(one[1])) < SURELY]
    return _fitted("wish", kept)


def _fitted(name: str, chosen: Sequence[Example]) -> Tensors:
    return named(name, fit_terms([one[1] for one in chosen], [one[2] for one in chosen]))


def _fit_meant(chosen: Sequence[Example]) -> Tensors:
    ids, labels = [ids for _, ids, _ in chosen], [is_one for *_, is_one in chosen]
    weights = [1.0 if writer else ORDINARY_WEIGHT for writer, *_ in chosen]
    return named("unmeant", fit_terms(ids, labels, weights, least=2))


def train_meant(out: Out, limit: Most = None, as_json: AsJson = False) -> None:
    """Train the model of what is not meant, and count errors by writers not trained on."""
    told = [one["said"] for one in everyday("statements")]
    rows = [*_labelled("meant", "not", limit), *(("", text, False) for text in told[:limit])]
    found = [(writer, term_ids(text), is_one) for writer, text, is_one in rows]
    _train(found, _fit_meant, "unmeant", MIN_UNMEANT, out, as_json)


def train_wishes(out: Out, limit: Most = None, as_json: AsJson = False) -> None:
    """Train the model of wishes, and count errors by writers that it was not trained on."""
    _train(examples(limit), trained, "wish", MIN_WISH, out, as_json)


def _train(
    found: Sequence[Example], fit: Fit, name: str, least: float, out: Path, as_json: bool
) -> None:
    figures = {}
    for writer in sorted({writer for writer, *_ in found} - {""}):
        model = TermModel.of(fit([one for one in found if one[0] != writer]), name)
        own = [one for one in found if one[0] == writer]
        heard = [is_one for _, ids, is_one in own if logistic(model.logit(ids)) >= least]
        labelled, right = sum(is_one for *_, is_one in own), sum(heard)
        figures[writer] = {"labelled": labelled, "found": right, "others": len(own) - labelled}
        figures[writer]["taken for one"] = len(heard) - right
    save_arrays(out, fit(found))
    print_figures("by writers not trained on", figures)
    print_json(figures, as_json)
