"""`python -m eval live`: does it help to prefer the conversation, or earlier days, by cues?

A situation has statements of earlier days, a conversation, and a question that one of the two
answers. The order of candidates is compared with one in which those of the conversation are raised
by log-odds where the question points to it ("just now", "you said", a pronoun), and lowered where
it names somebody or a time. Half of the situations (`dev`) may be looked at.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import track

from eval.arguments import AsJson, print_json
from eval.report import interval, share, table
from eval.statistics import bootstrap, paired_difference
from hotmem import Memory, Role, Turn
from hotmem.core.stage_timer import StageTimer
from hotmem.models import Encoder, Language, load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import rank
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import retrieve
from hotmem.retrieval.context import RecallRequest
from hotmem.types import Analysis

FILE: Final = Path(__file__).parents[1] / "data/trial/weights.jsonl"
USER: Final = "robin"
SESSION: Final = "live"
BUDGET: Final = 1_000
SHIFTS: Final = (0.0, 0.5, 1.0, 2.0)
"""Log-odds by which candidates of the conversation are raised or lowered."""

FIRST: Final = 3
"""An answer counts as found if it is among this many candidates."""

_JUST_NOW: Final = re.compile(
    r"\b(?:just|again|earlier|a (?:minute|moment|second) ago|you (?:just )?(?:said|told|mentioned)|"
    r"did (?:you|i|he|she|they) (?:just )?(?:say|mention))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A situation with its ranked candidates.

    Attributes:
        half: `dev` or `held`.
        live: Whether the conversation holds the answer, not the earlier days.
        answer: Words of the answer.
        cue: 1 if the question points to the conversation, -1 if to earlier days, 0 if neither.
        ranked: The candidates, best first.
        spoken: For each, whether it was said in the conversation.
    """

    half: str
    live: bool
    answer: str
    cue: int
    ranked: Sequence[ScoredCandidate]
    spoken: Sequence[bool]

    def rank(self, shift: float) -> int | None:
        """The place of the answer, from 0, if the conversation is shifted by its cue."""
        scored = [
            _logit(one.score) + self.cue * shift * spoken
            for one, spoken in zip(self.ranked, self.spoken, strict=True)
        ]
        order = sorted(range(len(scored)), key=lambda place: -scored[place])
        places = [
            rank
            for rank, place in enumerate(order)
            if self.answer.casefold() in self.ranked[place].evidence.text.casefold()
        ]
        return min(places, default=None)


def cue_of(text: str, analysis: Analysis) -> int:
    """Where a question points: 1 to the conversation, -1 to earlier days, 0 to neither."""
    if _JUST_NOW.search(text) or (analysis.ambiguous and not analysis.entities):
        return 1
    return -1 if analysis.entities or analysis.time else 0


async def asked(
    rows: Sequence[Mapping[str, Any]], encoder: Encoder, language: Language, console: Console
) -> list[Asked]:
    """Remember each situation in a memory of its own, and ask its question."""
    found = []
    for row in track(rows, "situations", console=console):
        async with _remembered(row, encoder, language) as (memory, at):
            found.append(await _ask(row, memory, at))
    return found


@asynccontextmanager
async def _remembered(
    row: Mapping[str, Any], encoder: Encoder, language: Language
) -> AsyncIterator[tuple[Memory, datetime]]:
    """A memory of a situation, and the time of its question."""
    with tempfile.TemporaryDirectory(prefix="hotmem-live-") as folder:
        async with Memory.open(
            Path(folder) / "memory.db", encoder=encoder, language=language
        ) as memory:
            at = max(datetime.fromisoformat(one["at"]).replace(tzinfo=UTC) for one in row["stored"])
            for number, one in enumerate(row["stored"]):
                said = datetime.fromisoformat(one["at"]).replace(tzinfo=UTC)
                await memory.remember(_turn(one["text"], "user", f"day {number}", said))
            at += timedelta(days=2)
            for one in row["live"]:
                at += timedelta(seconds=15)
                await memory.remember(_turn(one["text"], one["role"], SESSION, at))
            await memory.settle()
            yield memory, at + timedelta(seconds=15)


def _turn(text: str, role: str, session: str, at: datetime) -> Turn:
    return Turn(user_id=USER, session_id=session, role=Role(role), text=text, spoken_at=at)


async def _ask(row: Mapping[str, Any], memory: Memory, at: datetime) -> Asked:
    request = RecallRequest(
        text=row["question"],
        user_id=USER,
        session_id=SESSION,
        at=at,
        max_tokens=BUDGET,
        explicit=True,
    )
    context = memory.runtime.recall
    result = await memory.runtime.threads.recalls.run(
        retrieve(context, request, StageTimer(None, None))
    )
    ranking = rank(
        result.query,
        result.candidates,
        candidate_features(result.query, result.candidates),
        context.model,
        result.profile.weights,
        BUDGET,
    )
    ranked = deduplicate(ranking.candidates)[0]
    return Asked(
        row["half"],
        row["source"] == "live",
        row["answer"],
        cue_of(row["question"], result.query.analysis),
        ranked,
        [one.evidence.session_id == SESSION for one in ranked],
    )


def live(
    held: Annotated[bool, typer.Option(help="Measure the held-out half too.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Number of situations.")] = None,
    as_json: AsJson = False,
) -> None:
    """Prefer the conversation or earlier days by cues in the question, and see what it gains."""
    console = Console(stderr=True)
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()[:limit]]
    rows = [row for row in rows if held or row["half"] == "dev"]
    found = asyncio.run(asked(rows, load_encoder(ModelOptions()), load_language(), console))
    result: dict[str, dict[str, float]] = {}
    shown = table(
        "answers among the first three candidates",
        "half",
        ("shift", "answers in", "of", "first", f"first {FIRST}", "gain"),
    )
    for half in dict.fromkeys(one.half for one in found):
        for name, part in {
            "the conversation": [one for one in found if one.half == half and one.live],
            "earlier days": [one for one in found if one.half == half and not one.live],
            "either": [one for one in found if one.half == half],
        }.items():
            if not part:
                continue
            plain = [_is_within(one.rank(0.0), 1) for one in part]
            for shift in SHIFTS:
                ranks = [one.rank(shift) for one in part]
                first = [_is_within(rank, 1) for rank in ranks]
                within = bootstrap([_is_within(rank, FIRST) for rank in ranks]).mean
                gain = interval(paired_difference(first, plain)) if shift else ""
                shown.add_row(
                    half,
                    f"{shift}",
                    name,
                    str(len(part)),
                    share(bootstrap(first).mean),
                    share(within),
                    gain,
                )
                result[f"{half}, {name}, {shift}"] = {
                    "of": len(part),
                    "first": bootstrap(first).mean,
                    "within": within,
                }
    Console().print(shown)
    print_json(result, as_json)


def _is_within(rank: int | None, count: int) -> float:
    return float(rank is not None and rank < count)


def _logit(score: float) -> float:
    bounded = min(max(score, 1e-4), 1 - 1e-4)
    return log(bounded / (1 - bounded))
