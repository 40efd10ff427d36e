"""Whether a statement holds a secret, and whether an utterance asks for one.

A linear model of the words and the shapes of numbers in a statement, and a quadratic one of an
utterance's words with how near to it the secret and other statements are. Trained by
`python -m eval train-secrets`.
"""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from hotmem.models.files import load_shipped
from hotmem.text.numerals import shape_terms
from hotmem.text.passages import SENTENCE_END
from hotmem.types import Evidence, EvidenceKind, Statement, Turn, Understanding
from hotmem.understanding.facts.relations import ASKS, IS_CALLED
from hotmem.understanding.query.commands import FloatArray, term_id, term_ids
from hotmem.understanding.term_model import (
    Tensors,
    TermIds,
    TermModel,
    load_term_model,
    logistic,
)

MIN_SECRET: Final = 0.5
"""Probability from which a statement holds a secret."""

MIN_UNASKED: Final = 0.3
"""The same for what is shown unasked, in an opening, a summary or a list, where little is lost by
leaving something out."""

MIN_ASKED: Final = 0.2
"""Probability from which an utterance asks for a secret."""

SURELY: Final = 0.9
"""Probability from which a statement surely holds one."""

MIN_DOUBTED: Final = 0.05
"""Probability from which an utterance asks for what may hold a secret, but not surely."""

LEAST: Final = ((0.002, 0.0), (0.02, 0.15))
MOST: Final = 0.95
"""Relevance and cosine of a secret, and of its rival, that count at least, and at most. So a secret
that is alone in a memory is compared with a rival of little relevance."""

NEAR_BY_WORDS: Final = (0.5, 0.7)
"""Those taken for a statement without an embedding that has all words of an utterance."""

_LABEL: Final = re.compile(
    r"\b(?:don['’]?t\s+(?:tell|repeat)|between\s+(?:us|ourselves|you\s+and\s+me)|surprise"
    r"|confidential\w*|(?:nobody|no\s+one)\s+knows"
    r"|keep\s+(?:this|that|it)\s+(?:to\s+yourself|quiet|private|secret)"
    r"|(?:doesn['’]?t|don['’]?t|must\s*n['’]?t|must\s+not)\s+(?:know|find\s+out)\s+about"
    r"|(?:pins?|pass\s?(?:words?|codes?|phrase)|security\s+question|puk|api\s+key)\s+(?:is|are|\S*[\d_*]\w)"
    r"|(?:chang|set|reset|updat|switch)\w*\s(?:[\w']+\s){1,4}(?:pin|code|password|passcode)\s+to"
    r"|(?<!\bzip\s)(?<!\barea\s)(?<!\bpost\s)(?<!al\s)(?<!ling\s)(?<!error\s)(?:code|cv[cv]"
    r"|pin|combination)\b[^.?!\d]{,40}\d+|confid(?:ed|es)\s+in\s+me|in\s+confidence)\b",
    re.IGNORECASE,
)
"""Words by which somebody says that something is a code, or told in confidence."""


class SecretModel:
    """The models of secrets; thread-safe.

    Args:
        tensors: `statement_terms` and `question_terms` (sorted ids), and the weights and biases of
            statements, questions and pairs.
    """

    def __init__(self, tensors: Tensors) -> None:
        self._statement = TermModel.of(tensors, "statement")
        self._question = TermModel.of(tensors, "question")
        self._pair = tensors["pair_weights"].astype(np.float32)
        self._pair_bias = float(tensors["pair_bias"][0])

    def secrecy(self, text: str) -> float:
        """The probability that a statement holds a secret: a code, a number, a confidence."""
        return logistic(self._statement.logit(statement_ids(text)))

    def asks_for(self, text: str, near: FloatArray, *, question: bool) -> float:
        """The probability that an utterance asks for a secret.

        Args:
            text: The utterance.
            near: The secret's relevance, 0 to 1, and cosine to the utterance; and the greatest ones
                of statements of other turns; float32 (2, 2).
            question: Whether the utterance is a question.
        """
        pair = pair_features(self._question.logit(term_ids(text)), near, question=question)
        return logistic(float(pair @ self._pair + self._pair_bias))


@lru_cache(maxsize=1)
def load_model() -> SecretModel:
    """The shipped models, loaded once in a process."""
    return SecretModel(load_shipped("secrets-1.npz"))


@lru_cache(maxsize=4096)
def secrecy(text: str) -> float:
    """The probability that a statement holds a secret, as a whole and in one of its sentences."""
    of = load_model().secrecy
    return min(of(text), max(map(of, SENTENCE_END.split(text))))


def is_private(text: str, least: float = MIN_SECRET) -> bool:
    """Whether a statement holds a secret, with at least a probability; it is withheld."""
    return secrecy(text) >= least or _LABEL.search(text) is not None


def is_shown_unasked(text: str) -> bool:
    """Whether a text may stand in an opening, a summary or a list: surely it holds no secret."""
    return not is_private(text, MIN_UNASKED)


def holds_secret(found: Evidence, least: float = MIN_SECRET) -> bool:
    """Whether any of the words that a line of this statement may show holds a secret."""
    if found.kind is EvidenceKind.SUMMARY:
        return any(is_private(one, least) for one in SENTENCE_END.split(found.text))
    texts = (found.text, found.reading, found.quote.text if found.quote else "")
    return any(text and is_private(text, least) for text in texts)


def may_hear(asked_by: str, session_id: str | None, found: Evidence) -> bool:
    """Whether another speaker than the user may be told a statement.

    Args:
        asked_by: The speaker, who is told what was said in this conversation or by themself; ""
            for one who is told everything but secrets.
        session_id: This conversation.
        found: The statement.
    """
    present = found.session_id == session_id or found.speaker == asked_by
    return (present or not asked_by) and not holds_secret(found)


def statement_ids(text: str) -> TermIds:
    """The sorted ids of a statement's terms."""
    return np.unique(np.array([term_id(one) for one in shape_terms(text)], dtype=np.uint32))


def pair_features(asks: float, near: FloatArray, *, question: bool) -> FloatArray:
    """The features of an utterance and a secret, alone and by twos.

    Args:
        asks: How far the words of the utterance ask for a secret, log-odds.
        near: As of `SecretModel.asks_for`.
        question: Whether the utterance is a question.
    """
    near = np.clip(near, LEAST, MOST)
    logits = np.log(near[:, 0] / (1 - near[:, 0]))
    row = np.array([asks, *logits, question, *near[:, 1], 1], np.float32)
    return np.outer(row, row)[np.triu_indices(len(row))][:-1]


MIN_UNMEANT: Final = 0.5
"""Probability from which a statement is not meant (`python -m eval train-meant`)."""


@lru_cache(maxsize=4096)
def is_unmeant(text: str) -> bool:
    """Whether a statement is not meant: a dream, a game, a dictation, a joke, a doubted rumour.

    By a linear model of its words, trained by `python -m eval train-meant`.
    """
    return logistic(load_term_model("meant-1", "unmeant").logit(term_ids(text))) >= MIN_UNMEANT


def in_doubt(statement: Statement) -> Statement:
    """The statement in doubt, so that it supersedes nothing; an allergy stays as it is."""
    if statement.relation == "allergy":
        return statement
    return replace(statement, hedged=True, replaces=False)


def is_order(statement: Statement) -> bool:
    """Whether a statement says what the bot shall do: "keep it short", "call me Max"."""
    address = statement.relation == IS_CALLED.name and statement.changes
    return address or statement.relation == ASKS.name


def may_be_role(statement: Statement, speaker: str) -> bool:
    """Whether a statement names its speaker in words that also give a role: "I'm Batman"."""
    return (
        statement.relation == IS_CALLED.name
        and statement.subject == speaker
        and not statement.replaces
    )


def mark_hearsay(understanding: Understanding, owner: str, turn: Turn) -> Understanding:
    """Keep of another speaker's turn no wish, no correction and nothing about the user.

    Their words are stored all the same, but they end, correct and doubt nothing that the user said,
    of themself or of others.

    Args:
        understanding: The other speaker's turn.
        owner: The user's name, in full or the first name; empty if nobody is known to be the user,
            and then only what the speaker says of themself is kept.
        turn: The turn.
    """
    known = owner or turn.speaker or "user"
    names = {known.casefold(), known.casefold().split()[0]}
    own = {(turn.speaker or "").casefold()}
    kept = (
        one if _owner(one.subject) in own else replace(one, replaces=False)
        for one in understanding.statements
        if one.relation != ASKS.name and (_owner(one.subject) in names) != bool(owner)
    )
    return replace(understanding, statements=tuple(kept), corrections=(), jest=False, lasting=0.0)


def as_secret_as(understanding: Understanding, turn: Turn) -> Understanding:
    """Keep of a turn that surely holds a secret no statement that does not show that it is one.

    "Lena has HIV" of "Lena told me in confidence that she has HIV" would be shown to anybody.
    """
    if not is_private(turn.text, least=0.9):
        return understanding
    kept = (one for one in understanding.statements if is_order(one) or is_private(one.text))
    return replace(understanding, statements=tuple(kept))


def _owner(subject: str) -> str:
    """Return the first possessor of a subject: "ana" of "Ana's dog"."""
    return subject.casefold().replace("’", "'").split("'s ")[0].removesuffix("'")
