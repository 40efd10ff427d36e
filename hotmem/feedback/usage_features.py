"""Features of usage detection: shared words that are new, cues, and cosines."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul
from hotmem.feedback import usage_cues as cues
from hotmem.feedback.reply_words import (
    COMMON_STEMS,
    PERSON,
    RunFinder,
    TextWords,
    content_stems,
    split_clauses,
)
from hotmem.models import Encoder
from hotmem.text.stemming import stems

QUOTE_WORDS: Final = 4
"""Length of a quote in words; three common words are often an idiom ("I would like")."""

MAX_RUN: Final = 10
MAX_WORDS: Final = 5
"""Upper bounds of the length of a shared run and of counts of shared words."""

MAX_CLAUSES: Final = 6
"""Maximum number of a reply's clauses that are embedded, those with the most content words."""

PASS_CHARACTERS: Final = 40
"""Fixed cost of an encoder pass, in characters."""

CLAUSE_CHARACTERS: Final = 400
"""Number of characters of a text that are embedded."""

FEATURES: Final = (
    *("longest_run", "run_new_words", "run_of_item", "run_of_reply", "quotes", "quotes_new"),
    *("run_of_new", "in_runs", "content_shared", "content_words", "reply_content_shared"),
    *("echoed", "nothing_new", "number", "name", "other_name", "item_negated", "item_length"),
    *("item_named", "about_user_or_named", "denies_knowledge", "attributes", "addresses"),
    *("proposes", "reply_negated", "reply_length", "wants_advice", "asks", "of_self", "why"),
    *("question_length", "near_reply", "near_clause", "near_question", "near_beyond_question"),
    *("near_more_than_question", "reply_nearer", "clause_nearer"),
    *(f"question_{kind}" for kind in cues.QUESTION_EXAMPLES),
    *(f"clause_{kind}" for kind in cues.CLAUSE_EXAMPLES),
    *(f"reply_{kind}" for kind in cues.CLAUSE_EXAMPLES),
    *(f"item_{kind}" for kind in cues.ITEM_EXAMPLES),
)
"""The model's features, in order: lexical ones, and from `near_reply` on cosines."""

_FIRST_NAME: Final = re.compile(r"[A-Z]\w+")
_NOT_NAMES: Final = frozenset({"i", "my", "our", "we", "the", "user"})


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """A question and the reply to it, prepared for comparison with items.

    Attributes:
        question: The words of the user's utterance.
        reply: The words of the reply.
        known: The words of the question and of the visible texts.
        runs: Finds runs of words that an item shares with the reply.
        rows: Unit rows of question, reply and clauses, float32 (2 + clauses, dimension).
        features: Features that are the same for all items.
    """

    question: TextWords
    reply: TextWords
    known: TextWords
    runs: RunFinder
    rows: NDArray[np.float32]
    features: Mapping[str, float]

    @classmethod
    def of(
        cls, encoder: Encoder, question: str, reply: str, visible: Sequence[str] = ()
    ) -> "ReplyContext":
        """Prepare a question and the reply. Blocking.

        It encodes the reply and each of its clauses; the question's row is cached by the recall.

        Args:
            encoder: The memory's encoder.
            question: The user's utterance.
            reply: The part of the reply that was heard, not empty.
            visible: Other texts in the language model's context.
        """
        asked, heard = TextWords.of(question), TextWords.of(reply)
        parts = _most_informative(split_clauses(reply))
        spoken = [reply, *(parts if len(parts) > 1 else ())]
        encoded = _encode_in_parallel(encoder, [text[:CLAUSE_CHARACTERS] for text in spoken])
        question_row = encoder.encode([question[:CLAUSE_CHARACTERS]])
        clause_rows = encoded[1:] if len(encoded) > 1 else encoded
        rows = np.concatenate([question_row, encoded[:1], clause_rows])
        similarities = {
            **_similarities(encoder, "question", cues.QUESTION_EXAMPLES, rows[:1]),
            **_similarities(encoder, "reply", cues.CLAUSE_EXAMPLES, rows[1:2]),
            **_similarities(encoder, "clause", cues.CLAUSE_EXAMPLES, rows[2:]),
        }
        features = {
            **_cue_features(question, reply),
            "reply_length": float(np.log1p(len(heard.in_order))),
            "question_length": float(np.log1p(len(asked.in_order))),
            "nothing_new": float(not heard.content - asked.stems),
            **{name: float(near.max()) for name, near in similarities.items()},
        }
        known = TextWords.of("\n".join((question, *visible)))
        return cls(asked, heard, known, RunFinder(heard.in_order), rows, features)


def item_features(
    encoder: Encoder,
    context: ReplyContext,
    texts: Sequence[str],
    rows: NDArray[np.float32],
    speakers: Sequence[str | None],
) -> NDArray[np.float64]:
    """The model's input for items, float64 (items, len(FEATURES)).

    Args:
        encoder: The memory's encoder, for the examples.
        context: The question and the reply.
        texts: The items' texts.
        rows: Their unit rows, float32 (items, dimension).
        speakers: The speaker of each, if known.
    """
    semantic = _semantic_features(context.rows, rows)
    semantic |= _similarities(encoder, "item", cues.ITEM_EXAMPLES, rows)
    features = np.empty((len(texts), len(FEATURES)))
    for place, (text, speaker) in enumerate(zip(texts, speakers, strict=True)):
        lexical = {**context.features, **_lexical_features(context, text, speaker)}
        features[place] = [
            lexical[name] if name in lexical else semantic[name][place] for name in FEATURES
        ]
    return features


def _cue_features(question: str, reply: str) -> dict[str, float]:
    found = {
        "denies_knowledge": cues.IGNORANCE.search(reply),
        "attributes": cues.ATTRIBUTION.search(reply),
        "addresses": cues.SECOND_PERSON.search(reply),
        "proposes": cues.PROPOSAL.search(reply),
        "reply_negated": cues.NEGATION.search(reply),
        "wants_advice": cues.ADVICE_REQUEST.search(question),
        "asks": cues.QUESTION.search(question),
        "of_self": cues.FIRST_PERSON.search(question),
        "why": cues.WHY.match(question),
    }
    return {name: float(match is not None) for name, match in found.items()}


def _lexical_features(context: ReplyContext, text: str, speaker: str | None) -> dict[str, float]:
    """Words that item and reply share, and those of them that are new."""
    item, reply, known = TextWords.of(text), context.reply, context.known
    content = item.content - stems(speaker or "")
    new, reply_new = content - known.stems, reply.content - known.stems
    run, run_words = context.runs.shared(item.in_order)
    run_new = [
        word for word in run if word != PERSON and not stems(word) <= COMMON_STEMS | known.stems
    ]
    first_names = {
        word.casefold() for word in _FIRST_NAME.findall(text[:1] + text[1:].split(" ")[0])
    } - _NOT_NAMES
    names = item.names | first_names | {*(speaker or "").casefold().split()}
    named = bool(names & context.question.plain)
    is_quote = len(run) >= QUOTE_WORDS
    return {
        "longest_run": min(len(run), MAX_RUN),
        "run_new_words": min(len(run_new), MAX_WORDS),
        "run_of_item": len(run) / max(len(item.in_order), 1),
        "run_of_reply": len(run) / max(len(reply.in_order), 1),
        "quotes": float(is_quote),
        "quotes_new": float(is_quote and len(run_new) > 1),
        "run_of_new": float(len(run) >= QUOTE_WORDS - 1 and bool(run_new)),
        "in_runs": run_words / max(len(item.in_order), 1),
        "content_shared": len(new & reply.stems) / max(len(new), 1),
        "content_words": min(len(new & reply.stems), MAX_WORDS - 1),
        "reply_content_shared": len(reply_new & content) / max(len(reply_new), 1),
        "echoed": len(content & known.stems & reply.stems) / max(len(content), 1),
        "number": float(bool((item.numbers - known.numbers) & reply.numbers)),
        "name": float(bool((item.names & reply.plain) - known.plain)),
        "other_name": float(bool(reply.names - item.plain - known.plain)),
        "item_negated": float(bool(cues.NEGATION.search(text))),
        "item_length": float(np.log1p(len(item.in_order))),
        "item_named": float(named),
        "about_user_or_named": float(named or bool(context.features["of_self"])),
    }


def _semantic_features(
    context: NDArray[np.float32], rows: NDArray[np.float32]
) -> dict[str, NDArray[np.float32]]:
    """Cosines of each item with question, reply and clauses, and how they exceed each other."""
    cosines = matmul(context, rows.T)
    to_question = matmul(context, context[0])[:, None]
    question, reply = cosines[:2]
    scale = np.sqrt(np.maximum((1 - question**2) * (1 - to_question[1] ** 2), 1e-6))
    return {
        "near_reply": reply,
        "near_clause": cosines[2:].max(axis=0),
        "near_question": question,
        "near_beyond_question": np.clip((reply - question * to_question[1]) / scale, -1, 1),
        "near_more_than_question": reply - question,
        "reply_nearer": reply - to_question[1],
        "clause_nearer": (cosines[2:] - to_question[2:]).max(axis=0),
    }


def _similarities(
    encoder: Encoder,
    prefix: str,
    examples: Mapping[str, tuple[str, ...]],
    rows: NDArray[np.float32],
) -> dict[str, NDArray[np.float32]]:
    """Cosine of each row with the most similar example of each kind, float32 (rows,)."""
    return {
        f"{prefix}_{kind}": matmul(rows, _encode_examples(encoder, texts).T).max(axis=1)
        for kind, texts in examples.items()
    }


def _encode_in_parallel(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode texts, half of them on a second thread; the model releases the GIL."""
    if len(texts) < 2:
        return encoder.encode(texts)
    costs = np.cumsum([PASS_CHARACTERS + len(text) for text in texts])
    half = int(np.argmin(np.abs(costs[:-1] - costs[-1] / 2))) + 1
    with ThreadPoolExecutor(1) as second_thread:
        others = second_thread.submit(encoder.encode, texts[half:])
        return np.concatenate([encoder.encode(texts[:half]), others.result()])


def _encode_examples(encoder: Encoder, texts: tuple[str, ...]) -> NDArray[np.float32]:
    """Encode examples, once per encoder."""
    rows = _EXAMPLES.setdefault(encoder, {})
    if texts not in rows:
        rows[texts] = encoder.encode(texts)
    return rows[texts]


_EXAMPLES: Final[WeakKeyDictionary[Encoder, dict[tuple[str, ...], NDArray[np.float32]]]] = (
    WeakKeyDictionary()
)


def _most_informative(clauses: Sequence[str]) -> list[str]:
    """The clauses with the most content words, in order."""
    best = sorted(
        range(len(clauses)),
        key=lambda place: -len(content_stems(clauses[place][:CLAUSE_CHARACTERS])),
    )[:MAX_CLAUSES]
    return [clauses[place] for place in sorted(best)]
