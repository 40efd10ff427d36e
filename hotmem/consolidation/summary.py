"""Session summaries: topics, central sentences as reported speech, decisions and open loops.

Sentences are scored by their turn's cosine with the session's centroid (Radev, Jing and Budzikowska
2000) and by their information content, and selected greedily without redundancy.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np

from hotmem.consolidation.reported_speech import ReportedSentence, is_question, report
from hotmem.core.vector_math import matmul
from hotmem.models.encoder import Vectors
from hotmem.text.stemming import terms
from hotmem.text.word_sets import wordlist
from hotmem.types import Role, SessionSummary, SummarySentence, Topic, Turn
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER
from hotmem.understanding.facts.tags import is_interjection
from hotmem.understanding.mentioned_people import find_antecedents, find_listener
from hotmem.understanding.query.cues import is_chitchat
from hotmem.understanding.query.entities import find_entities

MAX_TOPICS: Final = 6
MAX_COUNTED_TOPICS: Final = 1_000
"""Maximum number of topics whose weights are stored."""

NAME_BONUS: Final = 1.5
"""Weight of a name relative to a noun phrase."""

ROLE_WEIGHTS: Final = {Role.USER: 1.0, Role.ASSISTANT: 0.6}
"""Weights of turns by the role of their speaker."""

GENERIC_WORDS: Final = wordlist(
    "thing thank thanks time way lot bit day today week year month kind sort one something "
    "anything everything nothing someone anyone "
    "everyone people guy idea stuff fun hey yeah yes wow haha morning night evening weekend "
    "moment question problem course sure "
    "hope life world part hour minute tomorrow yesterday other first next"
)


def count_topics(
    spoken: Iterable[tuple[Turn, Doc]], before: Mapping[str, Topic] = MappingProxyType({})
) -> dict[str, Topic]:
    """Count names and noun phrases by turn; mentions by the user count more.

    Args:
        spoken: Turns with their parses.
        before: Counts of the session's other turns.

    Returns:
        The topics of highest weight, at most `MAX_COUNTED_TOPICS`, by their stems.
    """
    spoken = list(spoken)
    weight = {name: topic.weight for name, topic in before.items()}
    written = {name: topic.written for name, topic in before.items()}
    speakers = {(turn.speaker or "").casefold() for turn, _ in spoken}
    for turn, doc in spoken:
        names = {
            _key(name): name
            for name in find_entities(doc)
            if name.casefold() not in speakers and not is_interjection(name)
        }
        phrases = {
            _key(phrase): phrase
            for phrase in _noun_phrases(doc)
            if phrase.casefold() not in speakers and not is_interjection(phrase)
        }
        for key, phrase in (phrases | names).items():
            written.setdefault(key, phrase)
            weight[key] = weight.get(key, 0.0) + ROLE_WEIGHTS[Role(turn.role)] * (
                NAME_BONUS if key in names else 1.0
            )
    best = sorted(weight, key=lambda key: -weight[key])[:MAX_COUNTED_TOPICS]
    return {key: Topic(written[key], weight[key]) for key in best}


def _key(phrase: str) -> str:
    """The stems of a phrase, so that "red kayak" and "red kayaks" are one topic."""
    return " ".join(terms(phrase)) or phrase.casefold()


def top_topics(counted: Mapping[str, Topic]) -> tuple[str, ...]:
    """The topics of highest weight that share no word with each other."""
    kept: list[str] = []
    for key, _ in sorted(
        counted.items(), key=lambda item: (-item[1].weight, -len(item[0].split()))
    ):
        if not any(set(key.split()) & set(other.split()) for other in kept):
            kept.append(key)
        if len(kept) == MAX_TOPICS:
            break
    return tuple(counted[key].written for key in kept)


def _noun_phrases(doc: Doc) -> Iterator[str]:
    """Noun phrases of a parse, at most two words, without determiners and stop words."""
    for chunk in doc.noun_chunks:
        words = [
            token
            for token in chunk
            if token.pos_ in ("NOUN", "PROPN", "ADJ") and not token.is_stop and token.is_alpha
        ]
        if (
            not words
            or words[-1] != chunk.root
            or words[-1].lemma_.lower() in GENERIC_WORDS
            or words[-1].ent_type_ in ("DATE", "TIME")
        ):
            continue
        words = words[-2:] if words[0].pos_ != "ADJ" else words[-1:]
        yield " ".join(token.text if token.pos_ == "PROPN" else token.lower_ for token in words)


MAX_SENTENCES: Final = 5
MIN_SENTENCES: Final = 2
"""Number of complete sentences below which others are used too."""

MAX_LOOPS: Final = 5
"""Maximum number of decisions, and of open loops, of a session."""

MIN_WORDS: Final = 4
"""Minimum number of words of a sentence."""

MIN_CONTENT_WORDS: Final = {Role.USER: 2, Role.ASSISTANT: 4}
"""Minimum number of content words of a sentence. Short ones of the assistant are courtesies."""

ASSISTANT: Final = "the assistant"
"""Name of the assistant in summaries."""

MAX_TITLE_WORDS: Final = 14
"""Number of words of a title."""

MAX_SENTENCES_PER_TURN: Final = 4
"""Maximum number of candidate sentences of a turn, so that a long turn does not dominate."""

REDUNDANT_OVERLAP: Final = 0.6
"""Share of common content words from which two sentences are redundant."""

_DECISION: Final = re.compile(
    r"\b(?:let['’]?s|we(?:['’]ve)? (?:decided|agreed)|i(?:['’]ve)? decided|i['’]ll|i will"
    r"|we['’]ll|we will|"
    r"(?:i['’]?m|i am|we['’]?re|we are) (?:going to|gonna|planning to)|"
    r"i plan to|we plan to|(?:i|we) settled on|(?:i|we) chose)\b",
    re.IGNORECASE,
)
_NOT_DECISION: Final = re.compile(
    r"\b(?:let['’]?s see|i['’]ll (?:be honest|say|bet|let you|see you|talk to you|try)"
    r"|i will say|going to (?:be (?:honest|fun|great)|say))\b",
    re.IGNORECASE,
)
_OPEN_LOOP: Final = re.compile(
    r"\b(?:remind me|(?:i|we) (?:still )?(?:need to|have to|must|ought to|should)|(?:i"
    r"|we)['’]ve (?:still )?got to|"
    r"(?:i|we) still (?:need|haven['’]?t|don['’]?t know)|"
    r"(?:i|we) (?:haven['’]?t|have not) (?:yet )?\w+(?:ed|en|t)\b[^.?!]* yet|"
    r"don['’]?t forget|to ?do list|not sure (?:yet )?(?:if|whether|what|how|when))\b",
    re.IGNORECASE,
)
_UNKNOWN: Final = re.compile(
    r"\bi (?:don['’]?t|do not) (?:know|have)\b|\bi['’]?m not sure\b|\bi have no idea\b",
    re.IGNORECASE,
)
_NOT_OPEN_LOOP: Final = re.compile(
    r"\b(?:don['’]?t|do not|never|no need to|stop) remind(?:ing)? me\b"
    r"|\bremind\s+me\s+(?:again\s+)?(?:what|when|where|who|whose|which|how|whether|why)\b"
    r"|\b(?!(?:i|we)\b)\w+\s+(?:\w+ly\s+)?(?:thinks?|thought|reckons?"
    r"|believes?)\s+(?:that\s+)?(?:i|we)\b",
    re.IGNORECASE,
)
"""Reminders that the user declines, requests to be told, and other people's opinions of them."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A candidate sentence.

    Attributes:
        turn: Index of its turn.
        order: Its position in the session.
        sent: The sentence.
        words: Its content words.
        score: Centrality and information content, 0 to 1.
        question: Whether it is a question.
    """

    turn: int
    order: int
    sent: Span
    words: frozenset[str]
    score: float
    question: bool


def summarise(
    turns: Sequence[Turn],
    docs: Sequence[Doc],
    vectors: Vectors,
    topics: Mapping[str, Topic] | None = None,
) -> SessionSummary:
    """Summarise a session.

    Args:
        turns: The session's turns, in order; of a long session, the turns that its current summary
            quotes and those after it.
        docs: Their parses.
        vectors: Their embeddings, unit rows, float32 (turns, dimension).
        topics: Topic counts of the whole session; counted from `turns` if not given.

    Returns:
        A summary with topics by descending weight and sentences in the session's order.
    """
    if not turns:
        return SessionSummary()
    speakers = [turn_speaker(turn) for turn in turns]

    @cache
    def reported(one: _Candidate) -> ReportedSentence:
        return report(
            one.sent,
            speakers[one.turn],
            find_listener(speakers, one.turn),
            find_antecedents(one.sent, one.turn, docs, speakers),
            advises=turns[one.turn].role is Role.ASSISTANT,
        )

    def quoted(chosen: Iterable[_Candidate]) -> tuple[SummarySentence, ...]:
        return tuple(SummarySentence(reported(one).text, turns[one.turn].id) for one in chosen)

    candidates = _candidates(turns, docs, _centrality(turns, vectors))
    statements = [candidate for candidate in candidates if not candidate.question]
    narrative = _select_diverse(statements, lambda one: reported(one).complete)
    if len(narrative) < MIN_SENTENCES:
        narrative = _select_diverse(statements)
    best = max(
        narrative, key=lambda one: (_fits_title(reported(one).text), one.score), default=None
    )
    own = [one for one in candidates if turns[one.turn].role is Role.USER]
    decisions = [one for one in own if _says(one, _DECISION, _NOT_DECISION)]
    loops = [
        one
        for one in own
        if _says(one, _OPEN_LOOP, _NOT_OPEN_LOOP)
        or (one.question and _is_unanswered(one, turns, docs))
    ]
    return SessionSummary(
        topics=top_topics(
            count_topics(zip(turns, docs, strict=True)) if topics is None else topics
        ),
        narrative=quoted(narrative),
        decisions=quoted(_without_duplicates(decisions)),
        open_loops=quoted(_without_duplicates(loops)),
        title=None
        if best is None
        else SummarySentence(as_title(reported(best).text), turns[best.turn].id),
    )


def _fits_title(sentence: str) -> bool:
    return len(sentence.split()) <= MAX_TITLE_WORDS


def as_title(sentence: str) -> str:
    """Return a sentence as one line of a list: whole if it is short, otherwise its beginning."""
    if _fits_title(sentence):
        return sentence.removesuffix(".")
    return f"{' '.join(sentence.split()[:MAX_TITLE_WORDS]).rstrip(',;:')} …"


def render_summary(summary: SessionSummary) -> str:
    """Render a summary as one text."""
    parts = []
    if summary.topics:
        parts.append(f"About {', '.join(summary.topics)}.")
    rendered = [sentence.text for sentence in summary.narrative]
    parts.extend(rendered)
    for label, sentences in (("Decided", summary.decisions), ("Open", summary.open_loops)):
        fresh = [sentence.text for sentence in sentences if sentence.text not in rendered]
        if fresh:
            parts.append(f"{label}: {' '.join(fresh)}")
        rendered.extend(fresh)
    return " ".join(parts)


def _centrality(turns: Sequence[Turn], vectors: Vectors) -> list[float]:
    """Cosine of each turn with the session's centroid, weighted by role."""
    weights = np.array([ROLE_WEIGHTS[Role(turn.role)] for turn in turns], dtype=np.float32)
    centroid = matmul(weights[None], vectors)[0]
    length = float(np.linalg.norm(centroid))
    return (
        [float(score) for score in matmul(vectors, centroid / length)]
        if length > 0
        else [0.0] * len(turns)
    )


def _candidates(
    turns: Sequence[Turn], docs: Sequence[Doc], centrality: Sequence[float]
) -> list[_Candidate]:
    recurrence = Counter(
        word
        for doc in docs
        for word in {token.lemma_.lower() for token in doc if _is_content(token)}
    )
    found: list[_Candidate] = []
    for index, (turn, doc) in enumerate(zip(turns, docs, strict=True)):
        if is_chitchat(doc):
            continue
        for sent in _sentences(doc):
            words = frozenset(token.lemma_.lower() for token in sent if _is_content(token))
            least = MIN_CONTENT_WORDS[Role(turn.role)]
            if len(words) < least or sum(token.is_alpha for token in sent) < MIN_WORDS:
                continue
            score = ROLE_WEIGHTS[Role(turn.role)] * (
                0.5 * max(0.0, centrality[index]) + 0.5 * _informativeness(sent, words, recurrence)
            )
            found.append(_Candidate(index, len(found), sent, words, score, is_question(sent)))
    return found


def turn_speaker(turn: Turn) -> str:
    """The name of a turn's speaker in a summary."""
    if turn.role is Role.ASSISTANT:
        return ASSISTANT
    return turn.speaker or UNNAMED_SPEAKER


def _sentences(doc: Doc) -> Iterator[Span]:
    """The sentences of a turn with the most content words, in order."""
    sents = [sent for sent in doc.sents if sent.text.strip()]
    informative = sorted(sents, key=lambda sent: -sum(_is_content(token) for token in sent))[
        :MAX_SENTENCES_PER_TURN
    ]
    yield from sorted(informative, key=lambda sent: sent.start)


def _informativeness(sent: Span, words: frozenset[str], recurrence: Counter[str]) -> float:
    """Information content of a sentence, 0 to 1.

    It counts content words, names and numbers, words that recur in the session, and first person.
    """
    named = sum(token.pos_ in ("PROPN", "NUM") for token in sent)
    recurring = sum(recurrence[word] > 1 for word in words)
    own = any(token.lower_ in ("i", "my", "we", "our") for token in sent)
    return (
        0.4 * min(1.0, len(words) / 10)
        + 0.25 * min(1.0, named / 3)
        + 0.2 * min(1.0, recurring / 4)
        + 0.15 * own
    )


def _is_content(token: Token) -> bool:
    return (
        token.pos_ in ("NOUN", "PROPN", "VERB", "ADJ", "NUM")
        and not token.is_stop
        and token.is_alpha
        and token.lemma_.lower() not in GENERIC_WORDS
    )


def _select_diverse(
    candidates: Iterable[_Candidate], accept: Callable[[_Candidate], bool] = lambda _: True
) -> list[_Candidate]:
    """Select the best acceptable sentences without redundancy, at most two per turn, in order."""
    chosen: list[_Candidate] = []
    for one in sorted(candidates, key=lambda candidate: -candidate.score):
        if (
            sum(other.turn == one.turn for other in chosen) < 2
            and not any(_is_redundant(one, other) for other in chosen)
            and accept(one)
        ):
            chosen.append(one)
        if len(chosen) == MAX_SENTENCES:
            break
    return sorted(chosen, key=lambda candidate: candidate.order)


def _without_duplicates(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    for one in candidates:
        if not any(_is_redundant(one, other) for other in chosen):
            chosen.append(one)
    return chosen[:MAX_LOOPS]


def _is_redundant(one: _Candidate, other: _Candidate) -> bool:
    return len(one.words & other.words) >= REDUNDANT_OVERLAP * max(
        1, min(len(one.words), len(other.words))
    )


def _says(candidate: _Candidate, wanted: re.Pattern[str], other: re.Pattern[str]) -> bool:
    """Whether a statement matches a pattern, and not the one of what only sounds alike."""
    text = candidate.sent.text
    return not (candidate.question or other.search(text)) and wanted.search(text) is not None


def _is_unanswered(question: _Candidate, turns: Sequence[Turn], docs: Sequence[Doc]) -> bool:
    """Whether a question has no reply, or the reply does not know the answer."""
    following = next(
        (
            index
            for index in range(question.turn + 1, len(turns))
            if turns[index].role is not turns[question.turn].role
        ),
        None,
    )
    if following is None:
        return True
    return _UNKNOWN.search(docs[following].text) is not None
