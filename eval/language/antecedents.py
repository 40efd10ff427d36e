"""`python -m eval train-antecedents`: train the model of antecedents, and cross-validate it.

It is trained on the dialogues of `eval/data/rewriting/dialogues.txt`, one a line: turns of the user
("u:") and the assistant ("a:"), a question, and the question as a person would write it to stand
alone. A fold holds out every fifth dialogue.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import Stemmer
import typer

from eval.arguments import AsJson, Most
from eval.content_words import content_words
from eval.language.dialogues import Query
from eval.output import print_figures, print_json
from eval.statistics import bootstrap
from hotmem.models import Language, load_language
from hotmem.understanding.query.ambiguity import find_ambiguous
from hotmem.understanding.query.antecedents import (
    AntecedentModel,
    Candidates,
    Features,
    Question,
    beside_best,
    choose,
)
from hotmem.understanding.query.coreference import MAX_PHRASES, resolve_by_rules

FILE: Final = Path(__file__).parents[1] / "data/rewriting/dialogues.txt"
FOLDS: Final = 5
PENALTIES: Final = (1.0, 0.1)
"""L2 penalties of the two steps."""

_stemmer: Final = Stemmer.Stemmer("porter")


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its candidates.

    Attributes:
        query: The question with its rewrite.
        candidates: What its dialogue mentions.
        labels: Of each candidate, the share of its words that the rewrite adds.
        by_rules: What the rules add.
    """

    query: Query
    candidates: Candidates
    labels: tuple[float, ...]
    by_rules: tuple[str, ...]


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(_stemmer.stemWords([word.replace("'", "") for word in content_words(text)]))


def wanted(query: Query) -> frozenset[str]:
    """The stems that the human rewrite adds; none for a clear question."""
    return stems(query.rewritten) - stems(query.text)


def is_right(query: Query, addition: str) -> bool:
    """Whether an addition resolves an ambiguous question, or leaves a clear one as it is.

    It resolves one if it holds at least half of the stems that are wanted, and at most as many that
    neither the question nor the human rewrite holds.
    """
    missing = wanted(query)
    added = stems(addition) - stems(query.text)
    held = len(added & missing)
    return 2 * held >= len(missing) and len(added - missing) <= held


def dialogues(file: Path = FILE) -> list[Query]:
    """Read the dialogues."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        turns, text, rewritten = line.split(" = ")
        said = [turn.strip().partition(": ") for turn in turns.split(" / ")]
        found.append(
            Query(
                text,
                rewritten,
                tuple(words for _, _, words in said),
                tuple(who == "u" for who, _, _ in said),
            )
        )
    return found


def example(query: Query, language: Language) -> Example:
    """Parse a dialogue and label what it mentions."""
    doc, turns = query.parsed(language)
    ambiguous = find_ambiguous(doc)
    candidates = Candidates.of(Question.of(doc, ambiguous), turns)
    missing = wanted(query)
    labels = [
        len(added & missing) / len(added) if added else 0.0
        for added in (stems(one.mention.phrase) - stems(query.text) for one in candidates.new)
    ]
    rules = resolve_by_rules(doc, ambiguous, [turn.doc for turn in turns])
    return Example(query, candidates, tuple(labels), rules)


def trained(chosen: Sequence[Example]) -> dict[str, dict[str, float]]:
    """Fit both steps; the second on what the first says of dialogues it was not fitted on."""
    beside = [
        features
        for fold in range(FOLDS)
        for model in [AntecedentModel(_fitted_alone(_without(chosen, fold)), {})]
        for one in chosen[fold::FOLDS]
        for features in beside_best(one.candidates, model.first_step(one.candidates.features()))
    ]
    labels = [label for fold in range(FOLDS) for one in chosen[fold::FOLDS] for label in one.labels]
    return {"alone": _fitted_alone(chosen), "beside": _fitted(beside, labels, PENALTIES[1])}


def _without(chosen: Sequence[Example], fold: int) -> list[Example]:
    return [one for place, one in enumerate(chosen) if place % FOLDS != fold]


def _fitted_alone(chosen: Sequence[Example]) -> dict[str, float]:
    rows = [features for one in chosen for features in one.candidates.features()]
    return _fitted(rows, [label for one in chosen for label in one.labels], PENALTIES[0])


def _fitted(rows: Sequence[Features], labels: Sequence[float], penalty: float) -> dict[str, float]:
    """Fit a logistic regression to labels between 0 and 1."""
    from sklearn.feature_extraction import DictVectorizer  # takes a second to import
    from sklearn.linear_model import LogisticRegression

    names = DictVectorizer(dtype=np.float64, sparse=False)
    table, target = names.fit_transform(rows), np.array(labels)
    weights = np.concatenate([target, 1 - target])
    model = LogisticRegression(C=1 / penalty, max_iter=1000, fit_intercept=False)
    model.fit(
        np.concatenate([table, table])[weights > 0],
        np.repeat([1, 0], len(target))[weights > 0],
        sample_weight=weights[weights > 0],
    )
    return {
        name: round(float(weight), 3)
        for name, weight in zip(names.feature_names_, model.coef_[0], strict=True)
        if abs(weight) >= 0.001
    }


def cross_validated(chosen: Sequence[Example]) -> list[tuple[Example, tuple[str, ...]]]:
    """What a model adds that was not trained on the fold, in any order."""
    found = []
    for fold in range(FOLDS):
        model = AntecedentModel(**trained(_without(chosen, fold)))
        found += [
            (
                one,
                choose(one.candidates, model.probabilities(one.candidates), MAX_PHRASES),
            )
            for one in chosen[fold::FOLDS]
        ]
    return found


def train_antecedents(
    out: Annotated[Path, typer.Option(help="File of the trained weights (.json).")],
    limit: Most = None,
    failures: Annotated[bool, typer.Option(help="Print the questions that fail.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cross-validate and train the model of antecedents, in seconds."""
    language = load_language()
    chosen = [example(query, language) for query in dialogues()[:limit]]
    found = cross_validated(chosen)
    result: dict[str, Any] = {}
    for name, rows in {"rules": [(one, one.by_rules) for one in chosen], "model": found}.items():
        for kind in ("ambiguous", "clear"):
            right = [
                float(is_right(one.query, " ".join(phrases)))
                for one, phrases in rows
                if bool(wanted(one.query)) == (kind == "ambiguous")
            ]
            if right:
                result[f"{name}, {kind}"] = bootstrap(right).mean
    print_figures("right, by models not trained on the dialogue", result)
    for one, phrases in found:
        if failures and not is_right(one.query, " ".join(phrases)):
            print(f"{one.query.text} -> {phrases}, not {one.query.rewritten}")
    out.write_text(json.dumps(trained(chosen), indent=1, sort_keys=True) + "\n", "utf-8")
    print_json(result, as_json)
