"""The material of a session-start block: what is stored of the user, and its evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hotmem.ranking.confidence import confidence, mark
from hotmem.session_start.request import SessionStartRequest, today_and_tomorrow
from hotmem.storage import Storage, queries
from hotmem.text.timezones import to_zone
from hotmem.types import Evidence, EvidenceKind, Item, Layer, UserKey
from hotmem.types.session_start import DatedWords, MemoryCandidate, SessionFacts
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER


@dataclass(frozen=True, slots=True)
class Material:
    """What the lines of a block are selected from.

    Attributes:
        request: The request.
        stored: What is stored of the user.
        evidence: The evidence of the memories and passages in it.
    """

    request: SessionStartRequest
    stored: SessionFacts
    evidence: Mapping[tuple[EvidenceKind, int], Evidence]

    def local(self, moment: datetime) -> datetime:
        """A time in the user's time zone."""
        return to_zone(moment, self.request.at.tzinfo)

    def item(self, text: str, kind: EvidenceKind, key: int, relevance: float = 1.0) -> Item:
        """An item of the block, made from a piece of evidence.

        Args:
            text: The text as shown.
            kind: The kind of the evidence.
            key: Its row number.
            relevance: Its relevance, 0 to 1.
        """
        found = self.evidence[kind, key]
        trusted = confidence(found, self.request.at)
        layer = Layer.FACTS if kind is EvidenceKind.MEMORY else Layer.VERBATIM
        return Item(
            text=text,
            kind=kind,
            layer=layer,
            layers=(layer,),
            relevance=relevance,
            confidence=trusted,
            mark=mark(relevance, trusted),
            turn_ids=found.turn_ids,
            memory_id=found.memory_id,
            session_id=found.session_id,
            speaker=found.speaker,
            said_at=self.local(found.said_at),
            vector=None if found.former else found.vector,
        )


async def load_material(
    storage: Storage, user: UserKey, relations: Sequence[str], request: SessionStartRequest
) -> Material:
    """Load what is stored of a user.

    Args:
        storage: The store.
        user: The user.
        relations: The relations of lasting facts.
        request: The request.
    """
    if request.rules_only:
        stored = await storage.database.read(queries.session_start.read_rules, user, request.at)
    else:
        stored = await storage.database.read(
            queries.session_start.read,
            user,
            relations,
            UNNAMED_SPEAKER,
            today_and_tomorrow(request.at),
            request.session_id,
            request.at,
        )
    memories = {row.key for row in (*stored.rules, *stored.facts, *stored.notes)} | {
        key for dated in stored.dated for key in dated.memories
    }
    passages = [dated.passage for dated in stored.dated if not dated.memories]
    found = await storage.database.read(
        queries.evidence.load,
        user,
        {EvidenceKind.MEMORY: sorted(memories), EvidenceKind.PASSAGE: passages},
    )
    evidence = {(one.kind, one.key): one for one in found}
    return Material(request, _without_forgotten(stored, evidence), evidence)


def _without_forgotten(
    stored: SessionFacts, evidence: Mapping[tuple[EvidenceKind, int], Evidence]
) -> SessionFacts:
    """Leave out what was forgotten between the two reads."""

    def remaining(rows: Sequence[MemoryCandidate]) -> tuple[MemoryCandidate, ...]:
        return tuple(row for row in rows if (EvidenceKind.MEMORY, row.key) in evidence)

    def with_memories(dated: DatedWords) -> DatedWords:
        keys = (key for key in dated.memories if (EvidenceKind.MEMORY, key) in evidence)
        return dated._replace(memories=tuple(keys))

    return replace(
        stored,
        rules=remaining(stored.rules),
        facts=remaining(stored.facts),
        notes=remaining(stored.notes),
        dated=tuple(
            dated
            for dated in map(with_memories, stored.dated)
            if dated.memories or (EvidenceKind.PASSAGE, dated.passage) in evidence
        ),
    )
