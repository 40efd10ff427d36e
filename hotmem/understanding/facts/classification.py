"""Where a memory is filed.

Its kind, its category and how important it is, by small fitted models over its meaning and its
words.

`python -m eval tools --fit` fits them on statements that we wrote (`eval/tools/filing.py`);
`filing.json` holds them as readable data.
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

from hotmem.core.matmul import matmul
from hotmem.models import Encoder
from hotmem.text.stemming import terms
from hotmem.types import Category, Kind, Statement, Vector
from hotmem.types.parse import Doc
from hotmem.understanding.facts.relations import ASKS

MIN_CONFIDENCE: Final = 0.6
"""Probability of kind and category together, below which the answer says that it is unsure."""

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
            r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b",
        ),
        "must": (
            r"\b(?:needs? to|ha(?:ve|s) to|got to|must|should|don't forget|remember to|remind)\b",
        ),
        "first person": (r"\b(?:i|i'm|i've|my|me|mine)\b",),
        "we": (r"\b(?:we|we're|we've|our|us)\b",),
        "you": (r"\b(?:you|your|yourself|you're)\b",),
        "order": (
            r"^\W*(?:please |and |so |ok(?:ay)?,? )?(?:always|never|don't|do not|stop|keep|use|call|speak|answer|say|read|tell|ask|let|play|send)\b",
            r"^\W*(?:please |and |so |ok(?:ay)?,? )?(?:switch|turn|set|give|make|start|treat|talk|remember|wait|repeat|store|save|delete|forget)\b",
            r"^\W*(?:if i|when i|no |be )\b",
        ),
        "found out": (
            r"\bturns? out\b|\b(?:learn(?:ed|t)?|reali[sz]\w*|found out|discovered|figured|it seems|apparently|the trick|lesson|because)\b",
            r"\b(?:works better|understood|noticed|if you|you have to|means)\b",
        ),
        "passed between": (
            r"\b(?:said|told|asked|promised|apologi\w+|argued|row|quarrel\w*|rang|called|visited|met|thanked|shouted|agreed|chatted|texted)\b",
            r"\b(?:wrote|lent|gave|talked|spoke|invited|refused|offered|complained|hugged|laughed)\b",
        ),
        "under way": (
            r"\b(?:half ?way|almost done|nearly|stage|phase|step|draft|prototype|plan(?:ning|ned)?|building|launch\w*|finish\w*|progress)\b",
            r"\b(?:waiting for|still|so far|chapter|milestone|budget|release\w*|version)\b",
        ),
        "taste": (
            r"\b(?:likes?|loves?|hates?|can't stand|prefer\w*|favou?rite|enjoy\w*|rather)\b",
        ),
        "able": (r"\b(?:can|can't|able to|know how|good at|fluent|plays? the|speaks?|taught)\b",),
        "third person": (r"\b(?:he|she|his|her|they|their|him|them)\b",),
    }.items()
}
"""Words that tell where a statement belongs."""

BLOCK_WEIGHTS: Final = {"meaning": 2.0, "words": 2.5, "forms": 1.5, "order": 1.5, "cues": 0.8}
"""How much each block of features counts beside the others in the penalty of the fit; chosen by
cross-validation on the fitted half."""

AFFINITY_WEIGHT: Final = 0.3
"""How much the kind heeds which kinds the category usually has; chosen likewise. It brings 0.8
of 100 kinds."""

MAX_PREFIX_TOKENS: Final = 3
"""Words at the beginning that are looked at together."""


@dataclass(frozen=True, slots=True)
class Classification:
    """Where a statement belongs.

    Attributes:
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 to 5.
        confidence: Probability, 0 to 1, that the category is right.
    """

    kind: Kind
    category: Category
    importance: int
    confidence: float


@dataclass(frozen=True, slots=True)
class SoftmaxModel:
    """A fitted choice among some names.

    Attributes:
        names: The names.
        intercepts: Their logits without any feature, float32 (names,).
        meaning: Coefficients of the embedding, float32 (dimension, names).
        places: Rows of the other features in `coefficients`; those that are not there count 0.
        coefficients: float32 (features, names).
    """

    names: tuple[str, ...]
    intercepts: NDArray[np.float32]
    meaning: NDArray[np.float32]
    places: Mapping[str, int]
    coefficients: NDArray[np.float32]

    def shares(self, seen: Mapping[str, float], vector: Vector) -> NDArray[np.float32]:
        """The probability of each name, 0 to 1, float32 (names,) (softmax)."""
        known = [name for name in seen if name in self.places]
        logits = (
            self.intercepts
            + np.array([seen[name] for name in known])
            @ self.coefficients[[self.places[name] for name in known]]
        )
        if len(vector) == len(self.meaning):
            logits = logits + BLOCK_WEIGHTS["meaning"] * matmul(self.meaning.T, vector)
        shares = np.exp(logits - logits.max())
        return np.asarray(shares / shares.sum(), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Classifier:
    """The fitted models.

    Attributes:
        category: Which category.
        kind: Which kind.
        importance: Which importance.
        affinity: How much more often than by chance a kind is in a category, as a logarithm,
            float32 (kinds, categories).
    """

    category: SoftmaxModel
    kind: SoftmaxModel
    importance: SoftmaxModel
    affinity: NDArray[np.float32]


def classify(doc: Doc, vector: Vector) -> Classification:
    """Files a statement.

    Args:
        doc: Its parse.
        vector: Its embedding by the default encoder, float32 (384,); one of another length tells
            nothing.
    """
    seen = features(doc)
    fitted = _fitted()
    categories = fitted.category.shares(seen, vector)
    kinds = np.log(fitted.kind.shares(seen, vector)) + AFFINITY_WEIGHT * (
        fitted.affinity @ categories
    )
    importances = fitted.importance.shares(seen, vector)
    return Classification(
        kind=Kind(fitted.kind.names[int(np.argmax(kinds))]),
        category=Category(fitted.category.names[int(np.argmax(categories))]),
        importance=int(fitted.importance.names[int(np.argmax(importances))]),
        confidence=float(categories.max()),
    )


def classify_statements(
    doc: Doc, statements: Sequence[Statement], encoder: Encoder
) -> tuple[Statement, ...]:
    """Files statements by the sentences that they were read in and by their meaning.

    Standing instructions are rules.

    The relation that a statement was read as tells less: of 337 that we wrote its category is ours
    in 47 of 100, and in 86 by the words; its kind in 54, and in 87. A clause alone tells 82 and 85.

    Args:
        doc: The parse of the whole text.
        statements: What was read in it.
        encoder: Embeds the statements, which are embedded anyway.
    """
    loose = [one for one in statements if one.relation != ASKS.name]
    rows = encoder.encode([statement.text for statement in loose])
    found = [
        classify(_sentences(doc, statement), row)
        for statement, row in zip(loose, rows, strict=True)
    ]
    filed = iter(
        replace(statement, kind=one.kind, category=one.category, importance=one.importance)
        for statement, one in zip(loose, found, strict=True)
    )
    return tuple(one if one.relation == ASKS.name else next(filed) for one in statements)


def _sentences(doc: Doc, statement: Statement) -> Doc:
    """The sentences that hold the statement, as a text of their own."""
    held = [
        sentence
        for sentence in doc.sents
        if sentence.start_char < statement.stop and statement.start < sentence.end_char
    ]
    return doc[held[0].start : held[-1].end].as_doc() if held else doc


def features(doc: Doc) -> dict[str, float]:
    """What the models see of a statement besides its meaning, by name.

    In each block every feature there weighs the same, and all together 1.
    """
    held = terms(doc.text)
    blocks = {
        "words": {*held, *(f"{one} {two}" for one, two in pairwise(held))},
        "forms": set(_forms(doc)),
        "order": set(_order(doc)),
        "cues": {f"cue:{name}" for name, cue in CUES.items() if cue.search(doc.text)},
    }
    share = {
        name: BLOCK_WEIGHTS[name] * (1.0 if name == "cues" else 1 / np.sqrt(max(len(block), 1)))
        for name, block in blocks.items()
    }
    return {feature: share[name] for name, block in blocks.items() for feature in sorted(block)}


def _forms(doc: Doc) -> Iterator[str]:
    """How it is said: parts of speech, subjects, how sentences begin."""
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


def _order(doc: Doc) -> Iterator[str]:
    """What follows what: parts of speech in pairs, and the first words."""
    yield from (f"tags:{one.tag_} {two.tag_}" for one, two in pairwise(doc))
    yield from (
        f"begins:{' '.join(token.lower_ for token in doc[:length])}"
        for length in range(1, MAX_PREFIX_TOKENS + 1)
    )


@cache
def _fitted() -> Classifier:
    data = json.loads(
        files("hotmem.understanding.facts").joinpath("classification.json").read_text("utf-8")
    )
    kinds, categories = _read(data["kind"]), _read(data["category"])
    affinity = np.array(
        [
            [data["affinity"][kind][category] for category in categories.names]
            for kind in kinds.names
        ],
        dtype=np.float32,
    )
    return Classifier(categories, kinds, _read(data["importance"]), affinity)


def _read(choices: Mapping[str, Mapping[str, Any]]) -> SoftmaxModel:
    places = {
        name: place
        for place, name in enumerate(
            dict.fromkeys(name for of in choices.values() for name in of["features"])
        )
    }
    coefficients = np.zeros((len(places), len(choices)), dtype=np.float32)
    for column, of in enumerate(choices.values()):
        for name, value in of["features"].items():
            coefficients[places[name], column] = value
    return SoftmaxModel(
        names=tuple(choices),
        intercepts=np.array([of["intercept"] for of in choices.values()], dtype=np.float32),
        meaning=np.array([of["meaning"] for of in choices.values()], dtype=np.float32).T,
        places=places,
        coefficients=coefficients,
    )
