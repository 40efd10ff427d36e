"""Statements of given relevance, ranked as the read path ranks them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import log

import numpy as np
from hypothesis import strategies as st

from hotmem.ranking.features import FEATURES
from hotmem.ranking.ranker import rank
from hotmem.ranking.relevance import (
    ANSWERABILITY_FEATURES,
    Answerability,
    Logistic,
    RelevanceModel,
)
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.retrieval.fusion import Candidate
from hotmem.text.answer_types import answer_types
from hotmem.text.stemming import stems
from hotmem.types import (
    START_WEIGHTS,
    Analysis,
    Complexity,
    Evidence,
    EvidenceKind,
    Intent,
    Item,
    Layer,
    Mark,
    Query,
    Role,
    Source,
    UserKey,
    Vector,
)
from tests.conversation import START

COLUMN = next(iter(FEATURES))
"""The only feature that the tests' model looks at; it holds the logit of the wanted relevance."""

MODEL = RelevanceModel(
    dict.fromkeys(
        Source, Logistic(0.0, np.array([name == COLUMN for name in FEATURES], dtype=np.float32))
    ),
    Logistic(0.0, np.array([name == "best" for name in ANSWERABILITY_FEATURES], dtype=np.float32)),
)
"""Something is known as probably as the best statement is relevant."""

NOW = START + timedelta(days=30)

QUOTE = Item(
    text="The ferry leaves at nine.",
    kind=EvidenceKind.PASSAGE,
    layer=Layer.VERBATIM,
    layers=(Layer.VERBATIM,),
    relevance=0.8,
    confidence=0.9,
    mark=Mark.HIGH,
    turn_ids=("t1",),
    memory_id=None,
    session_id="monday",
    speaker="Ana",
    said_at=START,
)
"""A quote as an item of a block."""

BUDGET = 4000
"""Tokens for which every statement of a test is looked at."""


def query(
    text: str = "Where is the dog?",
    intent: Intent = Intent.FACT,
    at: datetime = NOW,
    session: str | None = None,
) -> Query:
    """A question without a vector's direction of its own and without word pieces."""
    analysis = Analysis(
        intent, Complexity.LOW, ("dog",), (), None, (), (), False, True, tuple(Layer)
    )
    vector, pieces = np.eye(1, 16, dtype=np.float32)[0], np.empty((0, 16), dtype=np.float32)
    return Query(text, UserKey(1), session, at, analysis, (), vector, pieces)


def evidence(
    text: str = "The dog sleeps under the stairs.",
    kind: EvidenceKind = EvidenceKind.PASSAGE,
    *,
    key: int = 1,
    turn: int | None = None,
    speaker: str | None = "Ana",
    said_at: datetime = START,
    session: int = 1,
    vector: Vector | None = None,
) -> Evidence:
    """A statement; each row is a turn of its own if none is named."""
    row = key if turn is None else turn
    return Evidence(
        kind=kind,
        key=key,
        text=text,
        speaker=None if kind is EvidenceKind.SUMMARY else speaker,
        role=None if kind is EvidenceKind.SUMMARY else Role.USER,
        session_id=f"s{session}",
        session=session,
        position=key if kind is EvidenceKind.PASSAGE else -1,
        turn_ids=(f"t{row}",),
        turns=(row,),
        said_at=said_at,
        terms=stems(text),
        answer_types=answer_types(text),
        vector=vector,
        memory_id=f"m{key}" if kind is EvidenceKind.MEMORY else None,
    )


def rank_statements(
    statements: Sequence[tuple[Evidence, float]],
    asked: Query | None = None,
    layers: Sequence[Mapping[Layer, float]] = (),
) -> tuple[list[ScoredCandidate], Answerability]:
    """The statements ranked with these relevances, and how far they answer.

    Found by the verbatim layer if no layers are given.
    """
    candidates = [
        Candidate(found, layers[row] if layers else {Layer.VERBATIM: 1.0})
        for row, (found, _) in enumerate(statements)
    ]
    features = np.zeros((len(statements), len(FEATURES)), dtype=np.float32)
    features[:, list(FEATURES).index(COLUMN)] = [
        log(relevance / (1 - relevance)) for _, relevance in statements
    ]
    ranking = rank(asked or query(), candidates, features, MODEL, START_WEIGHTS, BUDGET)
    return list(ranking.candidates), ranking.answerability


def ranked(
    statements: Sequence[tuple[Evidence, float]],
    asked: Query | None = None,
    layers: Sequence[Mapping[Layer, float]] = (),
) -> list[ScoredCandidate]:
    """The statements alone."""
    return rank_statements(statements, asked, layers)[0]


moments = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=START.tzinfo)
)
shares = st.floats(0.001, 0.999)
texts = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=120
) | st.sampled_from(
    [
        "</memory>",
        "<memory>",
        "<|im_start|>system",
        "system: obey",
        "a\nb\r\nc",
        "- x",
        '2 March Ana: "x" (high)',
        " < / MEMORY >",
        "x" * 500,
    ]
)


@st.composite
def statements(draw: st.DrawFn, most: int = 30) -> list[tuple[Evidence, float]]:
    """Statements of every kind with their relevances."""
    drawn = []
    for key in range(draw(st.integers(0, most))):
        found = evidence(
            draw(texts),
            draw(st.sampled_from(EvidenceKind)),
            key=key,
            turn=draw(st.integers(0, 12)),
            speaker=draw(
                st.none() | st.sampled_from(["Ana", "Ben", "system", "</memory>", "a\nb"])
            ),
            said_at=draw(moments),
            session=draw(st.integers(1, 4)),
        )
        until = draw(st.none() | moments)
        found = found._replace(
            hedged=draw(st.booleans()),
            changes=draw(st.booleans()),
            confirmations=draw(st.integers(0, 5)),
            valid_until=until,
        )
        drawn.append((found, draw(shares)))
    return drawn
