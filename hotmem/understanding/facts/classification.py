"""Classification of memories: kind, category and importance.

Softmax models over the embedding and over features of the words. `classification.json` holds their
coefficients; `python -m eval tools --fit` fits them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.models import Encoder
from hotmem.text.stemming import terms
from hotmem.types import Category, Kind, Statement, Vector
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.relations import ASKS

MIN_CONFIDENCE: Final = 0.6
"""Probability of the category below which the result is reported as uncertain, 0 to 1."""

CUES: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile("|".join(parts), re.IGNORECASE)
    for name, parts in {
        "digits": (r"\d",),
        "code": (
            r"\b(?=\w*\d)(?=\w*[a-z])[\w-]{3,}",
            r"\d{4,}",
            r"[\w.]+@[\w.]+",
            r"\bwww\.",
            r"https?:",
        ),
        "unit": (
            r"\d\s?(?:mm|cm|km|kg|g|ml|mg|l|euros?|pounds?|dollars?|%|degrees)\b",
            r"\b(?:litres?|grams?|metres?|watts?)\b",
        ),
        "clock": (
            r"\b\d{1,2}[:.]\d\d\b",
            r"\bo'?clock\b",
            r"\b(?:half past|quarter (?:to|past))\b",
            r"\b\d{1,2} ?[ap]\.?m\b",
        ),
        "weekday": (r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",),
        "ahead": (
            r"\b(?:tomorrow|tonight|due|deadline|before|until)\b",
            r"\bnext (?:week|month|year)\b",
            r"\bby (?:the end|then|friday|monday|tuesday|wednesday|thursday)\b",
        ),
        "ordinal": (
            r"\b\d{1,2}(?:st|nd|rd|th)\b",
            r"\b(?:january|february|march|april|june|july|august|september|october|november"
            r"|december)\b",
        ),
        "must": (
            r"\b(?:needs? to|ha(?:ve|s) to|got to|must|should|don't forget|remember to|remind)\b",
        ),
        "first person": (r"\b(?:i|i'm|i've|my|me|mine)\b",),
        "we": (r"\b(?:we|we're|we've|our|us)\b",),
        "you": (r"\b(?:you|your|yourself|you're)\b",),
        "order": (
            r"^\W*(?:please |and |so |ok(?:ay)?,? )?(?:always|never|don't|do not|stop|keep|use"
            r"|call|speak|answer|say|read|tell|ask|let|play|send)\b",
            r"^\W*(?:please |and |so |ok(?:ay)?,? )?(?:switch|turn|set|give|make|start|treat"
            r"|talk|remember|wait|repeat|store|save|delete|forget)\b",
            r"^\W*(?:if i|when i|no |be )\b",
        ),
        "found out": (
            r"\bturns? out\b|\b(?:learn(?:ed|t)?|reali[sz]\w*|found out|discovered|figured"
            r"|it seems|apparently|the trick|lesson|because)\b",
            r"\b(?:works better|understood|noticed|if you|you have to|means)\b",
        ),
        "passed between": (
            r"\b(?:said|told|asked|promised|apologi\w+|argued|row|quarrel\w*|rang|called|visited"
            r"|met|thanked|shouted|agreed|chatted|texted)\b",
            r"\b(?:wrote|lent|gave|talked|spoke|invited|refused|offered|complained|hugged"
            r"|laughed)\b",
        ),
        "under way": (
            r"\b(?:half ?way|almost done|nearly|stage|phase|step|draft|prototype|plan(?:ning"
            r"|ned)?|building|launch\w*|finish\w*|progress)\b",
            r"\b(?:waiting for|still|so far|chapter|milestone|budget|release\w*|version)\b",
        ),
        "taste": (
            r"\b(?:likes?|loves?|hates?|can't stand|prefer\w*|favou?rite|enjoy\w*|rather)\b",
        ),
        "able": (r"\b(?:can|can't|able to|know how|good at|fluent|plays? the|speaks?|taught)\b",),
        "third person": (r"\b(?:he|she|his|her|they|their|him|them)\b",),
    }.items()
}
"""Patterns that indicate a category, each a binary feature."""

BLOCK_WEIGHTS: Final = {"meaning": 2.0, "words": 2.5, "forms": 1.5, "order": 1.5, "cues": 0.8}
"""Scale of each block of features, which sets how strongly the fit regularises it; from
cross-validation (`python -m eval tools`)."""

AFFINITY_WEIGHT: Final = 0.3
"""Weight of the association between kind and category in the choice of the kind; from
cross-validation (`python -m eval tools`)."""

MAX_PREFIX_TOKENS: Final = 3
"""Tokens of the longest prefix that is a feature."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The class of a statement.

    Attributes:
        kind: The kind of statement.
        category: The category.
        importance: 1 to 5.
        confidence: Probability of the category, 0 to 1.
        second: The next most probable category.
    """

    kind: Kind
    category: Category
    importance: int
    confidence: float
    second: Category


@dataclass(frozen=True, slots=True)
class SoftmaxModel:
    """A fitted softmax regression.

    Attributes:
        names: The classes.
        intercepts: Logits without features, float32 (classes,).
        meaning: Coefficients of the embedding, float32 (dimension, classes).
        rows: Row of each other feature in `coefficients`; unknown features count as 0.
        coefficients: float32 (features, classes).
    """

    names: tuple[str, ...]
    intercepts: NDArray[np.float32]
    meaning: NDArray[np.float32]
    rows: Mapping[str, int]
    coefficients: NDArray[np.float32]

    def probabilities(self, seen: Mapping[str, float], vector: Vector) -> NDArray[np.float32]:
        """Return the probability of each class, float32 (classes,)."""
        known = [name for name in seen if name in self.rows]
        logits = (
            self.intercepts
            + np.array([seen[name] for name in known])
            @ self.coefficients[[self.rows[name] for name in known]]
        )
        if len(vector) == len(self.meaning):
            logits = logits + BLOCK_WEIGHTS["meaning"] * matmul(self.meaning.T, vector)
        probabilities = np.exp(logits - logits.max())
        return np.asarray(probabilities / probabilities.sum(), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Classifier:
    """The fitted models.

    Attributes:
        category: Model of the category.
        kind: Model of the kind.
        importance: Model of the importance.
        affinity: Pointwise mutual information of kind and category, float32 (kinds, categories).
    """

    category: SoftmaxModel
    kind: SoftmaxModel
    importance: SoftmaxModel
    affinity: NDArray[np.float32]


def classify(doc: Doc, vector: Vector) -> Classification:
    """Classify a statement.

    Args:
        doc: Its parse.
        vector: Its embedding by the default encoder, float32 (384,); one of another length is
            ignored.
    """
    seen = features(doc)
    fitted = _load_classifier()
    categories = fitted.category.probabilities(seen, vector)
    kinds = np.log(fitted.kind.probabilities(seen, vector)) + AFFINITY_WEIGHT * (
        fitted.affinity @ categories
    )
    importances = fitted.importance.probabilities(seen, vector)
    first, second = (
        Category(fitted.category.names[place]) for place in np.argsort(-categories)[:2].tolist()
    )
    return Classification(
        kind=Kind(fitted.kind.names[int(np.argmax(kinds))]),
        category=first,
        importance=int(fitted.importance.names[int(np.argmax(importances))]),
        confidence=float(categories.max()),
        second=second,
    )


def classify_statements(
    doc: Doc, statements: Sequence[Statement], encoder: Encoder
) -> tuple[Statement, ...]:
    """Classify statements by their source sentences and their embeddings; instructions stay rules.

    The source sentences are better evidence than the clause or the relation of a statement alone.

    Args:
        doc: The parse of the whole text.
        statements: The statements read in it.
        encoder: Embeds the statements.
    """
    loose = [one for one in statements if one.relation != ASKS.name]
    rows = encoder.encode([statement.text for statement in loose])
    found = [
        classify(_source_sentences(doc, statement), row)
        for statement, row in zip(loose, rows, strict=True)
    ]
    classified = iter(
        replace(
            statement,
            kind=one.kind,
            category=one.category,
            importance=one.importance,
            category_probability=one.confidence,
        )
        for statement, one in zip(loose, found, strict=True)
    )
    return tuple(one if one.relation == ASKS.name else next(classified) for one in statements)


def _source_sentences(doc: Doc, statement: Statement) -> Doc:
    """Return the sentences that contain the statement as a document."""
    held = [
        sentence
        for sentence in doc.sents
        if sentence.start_char < statement.stop and statement.start < sentence.end_char
    ]
    return doc[held[0].start : held[-1].end].as_doc() if held else doc


def features(doc: Doc) -> dict[str, float]:
    """Return the features of a statement other than its embedding, by name.

    The features of a block have equal values, and each block has its weight as its norm.
    """
    held = terms(doc.text)
    blocks = {
        "words": {*held, *(f"{one} {two}" for one, two in pairwise(held))},
        "forms": set(_grammar_features(doc)),
        "order": set(_order_features(doc)),
        "cues": {f"cue:{name}" for name, cue in CUES.items() if cue.search(doc.text)},
    }
    share = {
        name: BLOCK_WEIGHTS[name] * (1.0 if name == "cues" else 1 / np.sqrt(max(len(block), 1)))
        for name, block in blocks.items()
    }
    return {feature: share[name] for name, block in blocks.items() for feature in sorted(block)}


def _grammar_features(doc: Doc) -> Iterator[str]:
    """Yield parts of speech, subjects and sentence openings."""
    for sentence in doc.sents:
        yield f"root:{sentence.root.tag_}"
        subjects = [token for token in sentence.root.children if "subj" in token.dep_]
        yield from (
            f"subject:{token.lower_ if token.pos_ == 'PRON' else token.pos_}" for token in subjects
        )
        if not subjects:
            yield "subject:none"
    yield from (f"tag:{token.tag_}" for token in doc)
    if len(doc):
        yield f"first:{doc[0].tag_}"
        yield f"opens:{doc[0].lower_}"


def _order_features(doc: Doc) -> Iterator[str]:
    """Yield pairs of adjacent parts of speech and the first words."""
    yield from (f"tags:{one.tag_} {two.tag_}" for one, two in pairwise(doc))
    yield from (
        f"begins:{' '.join(token.lower_ for token in doc[:length])}"
        for length in range(1, MAX_PREFIX_TOKENS + 1)
    )


@cache
def _load_classifier() -> Classifier:
    data = json.loads(
        files("hotmem.understanding.facts").joinpath("classification.json").read_text("utf-8")
    )
    kinds, categories = _read_model(data["kind"]), _read_model(data["category"])
    affinity = np.array(
        [
            [data["affinity"][kind][category] for category in categories.names]
            for kind in kinds.names
        ],
        dtype=np.float32,
    )
    return Classifier(categories, kinds, _read_model(data["importance"]), affinity)


def _read_model(choices: Mapping[str, Mapping[str, Any]]) -> SoftmaxModel:
    rows = {
        name: row
        for row, name in enumerate(
            dict.fromkeys(name for of in choices.values() for name in of["features"])
        )
    }
    coefficients = np.zeros((len(rows), len(choices)), dtype=np.float32)
    for column, of in enumerate(choices.values()):
        for name, value in of["features"].items():
            coefficients[rows[name], column] = value
    return SoftmaxModel(
        names=tuple(choices),
        intercepts=np.array([of["intercept"] for of in choices.values()], dtype=np.float32),
        meaning=np.array([of["meaning"] for of in choices.values()], dtype=np.float32).T,
        rows=rows,
        coefficients=coefficients,
    )
