"""Quotes: in place of each fact the words that it was read from, in the sentences that matter."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from hotmem.ranking.follow_ups import with_follow_ups
from hotmem.ranking.neighbors import deduplicate
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.text.languages import ENGLISH
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import EvidenceKind, Quote
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER

KEPT_SHARE: Final = 0.8
"""Share of the content words of a statement that are kept."""

ELLIPSIS: Final = "…"

PROTECTED: Final = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|cannot|except|unless|but|until|only|sorry|mean|actually"
    r"|wait|instead|rather|maybe|perhaps|probably|kidding|joking)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a sentence that may deny, limit, doubt or correct another; it is never left out."""

_REFERENCE: Final = re.compile(r"\b(?:s?he|they|him|his|hers?|them|theirs?)\b", re.IGNORECASE)

MIN_WORDS: Final = 2
"""Number of content words without which a quote ("Yes.") does not stand alone."""

_RUN: Final = re.compile(r"(\S)\1{39,}")
"""A run of one character, of which three are shown."""

_UNFINISHED: Final = re.compile(r"[,;:]\s*$")
"""The end of a passage that is cut within a sentence, shown as an ellipsis."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’)\]])\s+|\n+")


def quotes(
    candidates: Sequence[ScoredCandidate], language: str = ENGLISH
) -> tuple[list[ScoredCandidate], int]:
    """Put the passage that a fact was read from in its place.

    A fact finds what was said; it does not speak for it, as it may have lost a doubt, a number or
    an exception. A passage that was found as well keeps its own relevance, which the facts of its
    turn are part of. One that was not is not worth a line, unless the fact is what another was
    replaced by, of the time asked about, or read from words that say nothing alone ("Yes."). What
    was stored or edited without a conversation remains.

    Args:
        candidates: Candidates, best first.
        language: The language by whose rules their words are stemmed.

    Returns:
        Distinct passages, summaries and memories without a passage, best first, and how many
        candidates were merged into another.
    """
    found = {(one.evidence.kind, one.evidence.key): one for one in candidates}
    current = {one.evidence.replaced_by for one in candidates}
    searched = any(kind is EvidenceKind.PASSAGE for kind, _ in found)
    kept: dict[tuple[EvidenceKind, int], ScoredCandidate] = {}
    for one in candidates:
        of, passage = (one.evidence.kind, one.evidence.key), one
        if quote := one.evidence.quote:
            of = (EvidenceKind.PASSAGE, quote.passage)
            passage = found.get(of) or _passage(one, quote, language)
            brief = len(passage.evidence.terms - STOP_STEMS) < MIN_WORDS
            speaks = brief or one.in_window or one.evidence.key in current
            if searched and of not in found and not speaks:
                continue
        known = kept.get(of, passage)
        kept[of] = one if known is one else _joined(known, one)
    distinct, _ = deduplicate(sorted(kept.values(), key=lambda one: -one.score))
    return with_follow_ups(distinct), len(candidates) - len(distinct)


def _passage(one: ScoredCandidate, quote: Quote, language: str) -> ScoredCandidate:
    """The passage that a fact was read from, where no layer found it."""
    read = one.evidence._replace(
        kind=EvidenceKind.PASSAGE,
        key=quote.passage,
        text=quote.text,
        terms=stems(quote.text, language),
        said_at=quote.said_at,
        turn_ids=one.evidence.turn_ids[-1:],
        turns=one.evidence.turns[-1:],
    )
    return replace(one, evidence=read)


def _joined(passage: ScoredCandidate, fact: ScoredCandidate) -> ScoredCandidate:
    """The passage with the layers of both, and the time asked for if the fact fits it.

    It keeps the id of the first fact that found it, and is a plan if the fact is one. If its words
    refer to others ("She lives there."), it keeps what the fact says too.
    """
    said, read = passage.evidence, fact.evidence
    refers = len(said.terms - STOP_STEMS) < MIN_WORDS or _REFERENCE.search(said.text)
    speaker = stems(said.speaker or UNNAMED_SPEAKER)
    adds = read.quote and read.terms - STOP_STEMS - speaker - said.terms
    return replace(
        passage,
        evidence=said._replace(
            memory_id=said.memory_id or read.memory_id,
            reminder=said.reminder or read.reminder,
            reading=said.reading or (read.text if adds and refers else ""),
            quote=None,
        ),
        score_floor=max(passage.score_floor, fact.score_floor),
        layers=tuple(dict.fromkeys((*passage.layers, *fact.layers))),
        in_window=passage.in_window or fact.in_window,
    )


def trim(text: str, asked: frozenset[str], language: str = ENGLISH) -> str:
    """Remove the sentences with the least content and without words of the query.

    None that may deny, limit, doubt or correct another is removed. Long runs of one character are
    shortened.

    Args:
        text: The statement.
        asked: Stems of the words of the query.
        language: The language by whose rules they are stemmed.
    """
    text = _UNFINISHED.sub(ELLIPSIS, _RUN.sub(rf"\1\1\1{ELLIPSIS}", text))
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence]
    content = [sentence_content(sentence, language) for sentence in sentences]
    required = KEPT_SHARE * len(frozenset().union(*content))

    kept = set(range(len(sentences)))
    for index in sorted(kept, key=lambda index: len(content[index]) / len(sentences[index])):
        rest = kept - {index}
        left = frozenset().union(*(content[other] for other in rest))
        needed = content[index] & asked or PROTECTED.search(sentences[index])
        if rest and len(left) >= required and not needed:
            kept = rest
    return text if len(kept) == len(sentences) else _join(sentences, kept)


def _join(sentences: list[str], kept: set[int]) -> str:
    shown = [one if place in kept else ELLIPSIS for place, one in enumerate(sentences)]
    pairs = zip(shown, ["", *shown], strict=False)
    return " ".join(one for one, before in pairs if not one == before == ELLIPSIS)


@lru_cache(maxsize=8192)
def sentence_content(sentence: str, language: str = ENGLISH) -> frozenset[str]:
    """Stems of the content words of a sentence."""
    return stems(sentence, language) - STOP_STEMS
