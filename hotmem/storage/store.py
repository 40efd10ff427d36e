"""Every operation the paths need of a storage engine, named after what they want.

Another engine takes this class's place by offering the same methods; nothing outside this package
knows SQL.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self, TextIO

import numpy as np
from numpy.typing import NDArray

from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.logs import log
from hotmem.core.steady_clock import SteadyClock
from hotmem.errors import InvalidInput, StoreLocked, StoreReadOnly
from hotmem.storage.inspection import Inspection
from hotmem.storage.queries import (
    audit,
    cooccurrence,
    decisions,
    deletion_marks,
    deletions,
    diagnostics,
    edits,
    encoders,
    event_times,
    evidence,
    export_rows,
    forget,
    ids,
    import_rollback,
    import_rows,
    imports,
    jobs,
    layer_weights,
    maintenance,
    memories,
    new_memories,
    quality,
    reembedding,
    retention,
    session_start,
    subcategories,
    subject_access,
    summaries,
    tags,
    turns,
    usage,
    usage_stats,
    users,
)
from hotmem.storage.queries.edits import Wording
from hotmem.storage.queries.import_rows import ImportSession, Link
from hotmem.storage.queries.memories import Amend, Identify, Revise, verbatim
from hotmem.storage.queries.times import to_stored
from hotmem.storage.search import vectors
from hotmem.storage.search.index_cache import IndexCache
from hotmem.storage.search.searches import Ranking, Search, run
from hotmem.storage.sqlite.connection import Connection, locked
from hotmem.storage.sqlite.database import Database
from hotmem.types import (
    Act,
    Action,
    Actor,
    AnsweredRecall,
    AuditEntry,
    Category,
    CategoryMembers,
    ContextBlock,
    Decision,
    EventTime,
    Evidence,
    EvidenceKind,
    EvolutionRecord,
    FailedJob,
    Fault,
    ForgetResult,
    ImportRecord,
    ImportResult,
    Intent,
    Interval,
    ItemUse,
    JobKind,
    LabelMentions,
    LearningState,
    LocatedRow,
    MemoryMetadata,
    MemoryRecord,
    NewMemory,
    Period,
    Profile,
    QualityRecord,
    Restorable,
    SessionSummary,
    SignBits,
    Stats,
    StoredMemory,
    Subcategory,
    SubcategoryDraft,
    SummaryInput,
    SummaryRecord,
    TagUse,
    Topic,
    Turn,
    Understanding,
    UndoResult,
    UseCount,
    UsedMemory,
    UserKey,
    Vector,
    Weights,
    WeightSnapshot,
)
from hotmem.types.session_start import SessionFacts


class Store:
    """One memory file."""

    def __init__(self, database: Database) -> None:
        self._db = self._beside = database
        self._shelf = IndexCache()
        self._clock = SteadyClock()
        self._served = jobs.Served()
        self._encoder: str | None = None

    @classmethod
    def open(cls, path: Path, key: EncryptionKey | None = None) -> Self:
        """Opens or creates the file, encrypted if there is a key. Blocking.

        Raises:
            StoreError: If the file cannot be used.
        """
        return cls(Database.open(path, key))

    @property
    def read_only(self) -> bool:
        """Whether the file cannot be written, and every write raises `StoreReadOnly`."""
        return self._db.read_only

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for the lock of another program, if one does."""
        return locked(self._db.path) if self._db.lock_awaited else None

    def here(self) -> Self:
        """The same store, which reads in the thread that asks instead of in threads of its own."""
        view = copy.copy(self)
        view._db = self._db.here()
        return view

    def inspection(self, user: UserKey) -> Inspection:
        """A user's rows as a person looks at them."""
        return Inspection(self._db, user)

    async def close(self) -> None:
        """Finishes what is running and closes the file."""
        await self._db.close()

    async def adopt_encoder(self, name: str, dimension: int) -> bool:
        """Makes this the file's encoder.

        True if it was another one, and everything is embedded anew.

        Raises:
            StoreReadOnly: If it is another encoder than before, and the file cannot be written.
            StoreError: If it could not be written.
        """
        if not self.read_only:
            self._encoder = encoders.identified(name, dimension)
            return await self._db.write(vectors.adopt, name, dimension)
        before = await self._db.read(encoders.current)
        if before not in (None, encoders.identified(name, dimension)):
            raise StoreReadOnly(
                f"{self._db.path} was embedded by {before} and cannot be written, so {name} cannot search it."
                " Choose the former encoder (HOTMEM_ENCODER), or make the file and its folder writable."
            )
        return False

    async def user(self, user_id: str) -> UserKey | None:
        """The user's number, or None for a user never seen."""
        return await self._db.read(users.find, user_id)

    async def user_ids(self, limit: int) -> list[str]:
        """Ids of users of whom anything is known."""
        return await self._db.read(users.names, limit)

    async def profile(self, user: UserKey, runs: Sequence[str]) -> Profile:
        """What the read path needs to know of a user.

        `runs` are the utterance's words and word runs.
        """
        return await self._db.read(users.profile, user, runs)

    async def vocabulary(self, user: UserKey, limit: int) -> list[str]:
        """Names of who speaks, then those spoken of, the most frequent first."""
        return await self._db.read(users.vocabulary, user, limit)

    async def add_turn(self, turn: Turn, now: datetime) -> bool:
        """Stores a turn; False if it was stored before. Durable on return.

        Raises:
            InvalidInput: If its id belongs to another turn.
            StoreError: If it could not be committed.
        """
        return await self._db.write(turns.add, turn, now)

    async def latest_turns(self, user: UserKey, session_id: str, limit: int) -> list[Turn]:
        """The last turns of a session, in order."""
        return await self._db.read(turns.latest, user, session_id, limit)

    async def unsummarised(self, session: int) -> SummaryInput | None:
        """What the next summary of a session is made from; None if all of it is summarised."""
        return await self._db.read(summaries.unsummarised, session)

    async def user_turns(
        self, user: UserKey, after: int = 0, limit: int = 1000
    ) -> list[tuple[int, Turn]]:
        """The user's next turns after a row number."""
        return await self._db.read(turns.of_user, user, after, limit)

    async def search(
        self, user: UserKey, *searches: Search, until: float | None = None
    ) -> list[Ranking]:
        """The ranking of each search among the user's rows, all in one read.

        An index that is not in memory yet is read first, in a thread of its own and without a
        deadline: others are not to wait for it, and a long one that is cut short would never be
        there.

        Raises:
            DeadlineExceeded: If `time.monotonic()` passed `until`.
        """
        for kind in dict.fromkeys(kind for search in searches for kind in search.reads):
            index = self._shelf.index(kind, user)
            if not index.loaded:
                await self._beside.read(index.read)
        return await self._db.read_until(
            until, run, user, searches, lambda kind: self._shelf.index(kind, user)
        )

    async def evidence(
        self,
        user: UserKey,
        keys: Mapping[EvidenceKind, Sequence[int]],
        *,
        around: Sequence[int] = (),
        reach: int = 0,
        window: int = 0,
        asked: Interval | None = None,
        until: float | None = None,
    ) -> list[Evidence]:
        """The evidence of these rows, passages up to `reach` places from `around`, and what has taken the place of the replaced.

        What tells of the time `asked` about is marked.

        Raises:
            DeadlineExceeded: If `time.monotonic()` passed `until`.
        """
        return await self._db.read_until(
            until, evidence.load, user, keys, around, reach, window, asked
        )

    async def waiting_for_vectors(self, limit: int) -> list[tuple[EvidenceKind, int, str]]:
        """The next texts without an embedding, in turn from all users who have some.

        Kind, row number, text.

        There are none for a process whose encoder is no longer the file's: another one has to embed
        them.
        """

        def waiting(conn: Connection) -> list[tuple[EvidenceKind, int, str]]:
            return [] if self._superseded(conn) else vectors.waiting(conn, limit, self._served)

        return await self._db.read(waiting)

    async def former_encoder(self) -> str | None:
        """Name and dimension of the encoder whose vectors some rows still have.

        None if all have those of the file's.
        """
        return await self._db.read(reembedding.former_encoder)

    async def superseded(self) -> bool:
        """Whether another process has given the file another encoder than this one's."""
        return await self._db.read(self._superseded)

    def _superseded(self, conn: Connection) -> bool:
        return self._encoder is not None and encoders.current(conn) != self._encoder

    async def rows_of_former_encoder(self, limit: int) -> list[tuple[EvidenceKind, int, str]]:
        """The next texts that are embedded anew, all of one kind: kind, row number, text."""
        return await self._db.read(reembedding.following, limit)

    async def put_vectors(
        self,
        texts: Sequence[tuple[EvidenceKind, int, str]],
        rows: Sequence[Vector],
        signs: Sequence[SignBits],
        *,
        anew: bool = False,
    ) -> None:
        """Stores embeddings and token signs; a memory is placed in the nearest subcategory.

        Nothing is stored if another process has given the file another encoder, and nothing of a
        row whose text has changed meanwhile.

        Args:
            texts: What was embedded, all of one kind: kind, row number, text.
            rows: Embeddings.
            signs: Token signs.
            anew: Whether these rows have vectors of the former encoder, as `rows_of_former_encoder`
                gave them.
        """

        def put(conn: Connection) -> None:
            if self._superseded(conn):
                return
            kind, keys = texts[0][0], [key for _, key, _ in texts]
            now = dict(reembedding.text_of(conn, kind, keys))
            same = [place for place, (_, key, text) in enumerate(texts) if now.get(key) == text]
            kept = [keys[place] for place in same]
            vectors.put(
                conn, kind, kept, [rows[place] for place in same], [signs[place] for place in same]
            )
            if anew:
                reembedding.advance(conn, kind, keys)
                reembedding.postpone(conn, kind, [key for key in keys if key not in kept])
            elif kind is EvidenceKind.MEMORY:
                subcategories.place(conn, kept)

        await self._db.write(put)

    async def take_vectors(self, kind: EvidenceKind, keys: Sequence[int]) -> None:
        """Lets rows that could not be embedded anew wait as new ones do, without the vectors they have."""

        def take(conn: Connection) -> None:
            reembedding.advance(conn, kind, keys)
            reembedding.postpone(conn, kind, keys)

        await self._db.write(take)

    async def finish_reembedding(self) -> None:
        """Says that no row has a vector of the former encoder any more, and places memories that came meanwhile in their subcategories."""

        def finish(conn: Connection) -> None:
            reembedding.finish(conn)
            subcategories.place_everyones(conn)

        await self._db.write(finish)

    async def waiting_turns(self, limit: int) -> list[tuple[int, Turn]]:
        """The next turns that wait to be understood, in turn from all users who have some, with their row numbers; each user's in their order."""
        return await self._db.read(
            lambda conn: turns.numbered(
                conn, jobs.following(conn, JobKind.TURN, self._served, limit)
            )
        )

    async def count_failure(
        self,
        work: JobKind,
        key: int | str,
        error: str,
        attempts: int,
        pause_s: float,
        now: datetime,
        user: UserKey | None = None,
    ) -> None:
        """Counts a failed try of a piece of work, which pauses or is set aside.

        See `hotmem.storage.queries.jobs.failed`.
        """
        await self._db.write(jobs.failed, work, key, error, attempts, pause_s, now, user)

    async def resume_failures(self, now: datetime) -> datetime | None:
        """Lets what failed and has paused long enough wait again.

        Returns when the next pause is over, or None.
        """
        again_at = await self._db.read(jobs.paused)
        if again_at is None or again_at > now:
            return again_at
        await self._db.write(jobs.resume, now)
        return await self._db.read(jobs.paused)

    async def count_success(self, work: JobKind, key: int | str, user: UserKey) -> None:
        """Drops the account of a piece that failed before.

        Needed of categories alone, as others' goes with what they wait in.
        """
        await self._db.write(jobs.succeeded, work, key, user)

    async def retry_failures(self, before: datetime, given: int, limit: int) -> int:
        """Gives some of what was set aside before a time one more try, unless all that were `given` one failed again; returns how many."""
        return (
            await self._db.write(jobs.retry, before, given, limit)
            if await self._db.read(jobs.any_set_aside)
            else 0
        )

    async def forgive_failures(self) -> int:
        """Gives everything that failed its tries back; returns how many pieces."""
        return await self._db.write(jobs.forgive)

    async def failures(self, limit: int) -> list[FailedJob]:
        """What failed and was not done since, the latest first."""
        return await self._db.read(jobs.failures, limit)

    async def waiting_work(self) -> dict[JobKind, int]:
        """How much of each sort waits, all users together."""
        return await self._db.read(jobs.waiting)

    async def learn(
        self,
        understandings: Mapping[int, Understanding],
        revise: Revise,
        amend: Amend,
        identify: Identify = verbatim,
    ) -> None:
        """Stores what was understood of turns, by their row numbers, in this order."""

        def learn(conn: Connection) -> None:
            for turn, understanding in understandings.items():
                memories.learn(conn, turn, understanding, revise, amend, identify)

        await self._db.write(learn)

    async def memories(
        self, user: UserKey, now: datetime, *, past: bool = False
    ) -> list[StoredMemory]:
        """The user's memories that hold at a time, or all if `past`, latest first."""
        return await self._db.read(memories.of_user, user, now, past=past)

    async def keep(
        self,
        user_id: str,
        note: NewMemory,
        vector: Vector,
        signs: SignBits,
        now: datetime,
        reason: str,
    ) -> str:
        """Stores a note with its embedding and token signs, and why it was filed as it is.

        Returns the memory's id.
        """

        def keep(conn: Connection) -> str:
            user = users.ensure(conn, user_id)
            if self._superseded(conn):
                return new_memories.keep(
                    conn, user, replace(note, tag_vectors={}), None, signs, now, reason
                )
            return new_memories.keep(conn, user, note, vector, signs, now, reason)

        return await self._db.write(keep)

    async def confirm(
        self, user: UserKey, memory_id: str, note: NewMemory, now: datetime, reason: str
    ) -> bool:
        """Counts that a memory was stored again; False if it was forgotten meanwhile."""

        def confirm(conn: Connection) -> bool:
            told = replace(note, tag_vectors={}) if self._superseded(conn) else note
            return new_memories.confirm(conn, user, memory_id, told, now, reason)

        return await self._db.write(confirm)

    async def rules(self, user: UserKey, at: datetime) -> SessionFacts:
        """MemoryMetadata instructions that hold at a time, and the name that the user speaks under."""
        return await self._db.read(session_start.read_rules, user, to_stored(at))

    async def speaker(self, user: UserKey) -> str | None:
        """The name that the user speaks under; None without one."""
        return await self._db.read(session_start.speaker, user)

    async def opening(
        self,
        user: UserKey,
        relations: Sequence[str],
        anonymous: str,
        days: Interval,
        live: str | None,
        at: datetime,
    ) -> SessionFacts:
        """What a session opens with at a time; see `hotmem.storage.queries.session_start.read`."""
        return await self._db.read(
            session_start.read, user, relations, anonymous, days, live, to_stored(at)
        )

    async def standing(self, user: UserKey, keys: Sequence[int]) -> dict[int, MemoryMetadata]:
        """What a search shows of memories besides their words, by row number."""
        return await self._db.read(new_memories.standing, user, keys)

    async def known_tags(self, user: UserKey, names: Sequence[str]) -> frozenset[str]:
        """Those of the names that are the user's tags in use and have an embedding."""
        return await self._db.read(tags.known, user, names)

    async def tags(self, user: UserKey, limit: int) -> tuple[list[str], NDArray[np.float32]]:
        """The user's embedded tags in use, the most recent first, and their unit rows, float32 (tags, dimension)."""
        return await self._db.read(tags.in_use, user, limit)

    async def counted_tags(
        self, user: UserKey, limit: int
    ) -> tuple[list[TagUse], NDArray[np.float32]]:
        """The same, with how many memories are filed under each."""
        return await self._db.read(tags.counted, user, limit)

    async def unembedded_tags(self, user: UserKey, limit: int) -> list[tuple[int, str]]:
        """Tags in use without an embedding: row numbers and names."""
        return await self._db.read(tags.unembedded, user, limit)

    async def embed_tags(self, keys: Sequence[int], rows: Sequence[Vector]) -> None:
        """Stores the embeddings of tags."""
        await self._db.write(
            lambda conn: None if self._superseded(conn) else tags.embed(conn, keys, rows)
        )

    async def consolidate_tags(
        self,
        user: UserKey,
        pairs: Sequence[tuple[int, int]],
        unused_since: datetime,
        reason: str,
        now: datetime,
    ) -> tuple[str, int]:
        """Lets tags stand for others and archives what was hardly used.

        Returns the decision's id and how many were archived.
        """
        return await self._db.write(tags.consolidate, user, pairs, unused_since, reason, now)

    async def whole_id(self, user: UserKey, table: ids.Table, given: str) -> str:
        """The id of the user's memory, turn or decision that `given` is the beginning of.

        `given` itself if there is none.

        Raises:
            InvalidInput: If several ids begin so.
        """
        return await self._db.read(ids.whole, user, table, given)

    async def merge(
        self, user: UserKey, into: str, others: Sequence[str], reason: str, now: datetime
    ) -> str:
        """Merges memories into one; returns the decision's id.

        Raises:
            InvalidInput: If one is not among the user's memories, or was merged before.
        """
        return await self._db.write(decisions.merge, user, into, others, reason, now)

    async def filed(self, user: UserKey, memory_id: str) -> dict[str, Any]:
        """A memory's words and their parts, where it is filed, and until when it holds, by name.

        Raises:
            InvalidInput: If it is not among the user's memories, or another stands for it.
        """
        return await self._db.read(edits.standing, user, memory_id)

    async def refile(
        self,
        user: UserKey,
        memory_id: str,
        columns: Mapping[str, Any],
        tags_wanted: Mapping[str, Vector] | None,
        now: datetime,
        reason: str,
    ) -> None:
        """Changes where a memory is filed, until when it holds, and which tags, here with their embeddings, it has.

        Raises:
            InvalidInput: If it is not among the user's memories, or another stands for it.
        """

        def change(conn: Connection) -> None:
            edits.refile(conn, user, memory_id, columns, now, reason)
            if tags_wanted is not None:
                edits.retag(
                    conn,
                    user,
                    memory_id,
                    tuple(tags_wanted),
                    {} if self._superseded(conn) else tags_wanted,
                    now,
                )

        await self._db.write(change)

    async def reword(
        self, user: UserKey, memory_id: str, wording: Wording, now: datetime, reason: str
    ) -> str:
        """Puts a memory with new words in the place of one; returns its id.

        Raises:
            InvalidInput: If it is not among the user's memories, or another stands for it.
        """

        def reword(conn: Connection) -> str:
            told = replace(wording, vector=None) if self._superseded(conn) else wording
            return edits.reword(conn, user, memory_id, told, now, reason)

        return await self._db.write(reword)

    async def undo(self, user: UserKey, decision: str, now: datetime) -> UndoResult:
        """Takes a merge, an edit, a consolidation of tags or an evolution back.

        What came with an import is left for `take_back`.

        Raises:
            InvalidInput: If there is no such decision, or it was taken back before.
        """

        def undo(conn: Connection) -> UndoResult:
            restored = decisions.undo(conn, user, decision, now)
            subcategories.place_unplaced(conn, user)
            return restored

        return await self._db.write(undo)

    async def decisions(self, user: UserKey, limit: int) -> list[Decision]:
        """What was decided about the user's memories, latest first.

        All of it, if the limit is negative.
        """
        return await self._db.read(decisions.of_user, user, limit)

    async def evolution_due(
        self, now: datetime, every: timedelta, least: int
    ) -> tuple[UserKey, Category] | None:
        """A user's category that last evolved so long ago and has gained at least so many memories since."""
        return await self._db.read(subcategories.due, now, every, least)

    async def evolving(self, user: UserKey, category: Category, limit: int) -> CategoryMembers:
        """The embedded memories of a category, at most so many, and the subcategories they are in."""
        return await self._db.read(subcategories.members, user, category, limit)

    async def draft_evolution(
        self,
        user: UserKey,
        category: Category,
        drafts: Sequence[SubcategoryDraft],
        members: CategoryMembers,
        now: datetime,
    ) -> int | None:
        """Writes an evolution down without making it live.

        Returns its row number, or None if something of it was forgotten meanwhile.
        """
        return await self._db.write(subcategories.draft, user, category, drafts, members, now)

    async def place_more(self, evolution: int, after: int) -> int | None:
        """Places a portion of the memories that are in none of a draft's subcategories.

        Returns where to go on, or None at the end.
        """
        return await self._db.write(subcategories.place_more, evolution, after)

    async def adopt_evolution(self, evolution: int, reason: str, now: datetime) -> str | None:
        """Makes a draft live; returns the decision's id, or None if something of it was forgotten meanwhile."""
        return await self._db.write(subcategories.adopt, evolution, reason, now)

    async def subcategories(self, user: UserKey) -> list[Subcategory]:
        """The user's subcategories, by category, the largest first."""
        return await self._db.read(subcategories.of_user, user)

    async def evolution_records(self, user: UserKey) -> list[EvolutionRecord]:
        """The user's subcategories, whole, by category."""
        return await self._db.read(subcategories.records, user)

    async def stats(self, user: UserKey) -> Stats:
        """What there is of a user."""
        return await self._db.read(maintenance.stats, user)

    async def timeline(
        self,
        user: UserKey,
        length: str,
        about: str | None,
        after: datetime | None,
        before: datetime | None,
    ) -> list[Period]:
        """What was said and learnt in each "day", "month" or "year" that has anything, the earliest first."""
        return await self._db.read(maintenance.timeline, user, length, about, after, before)

    async def mentions(self, user: UserKey, about: str | None, most: int) -> list[LabelMentions]:
        """Names and concepts with the turns and memories that hold them, the most frequent first.

        All, or `about` and what is said beside it.
        """
        return await self._db.read(cooccurrence.mentions, user, about, most)

    async def memory_texts(self, user: UserKey, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Ids and words of memories, by row number."""
        return await self._db.read(cooccurrence.texts, user, keys)

    async def recalls(
        self, user: UserKey, after: datetime | None, before: datetime | None, most: int
    ) -> list[AnsweredRecall]:
        """The latest recalls that a reply followed, in order."""
        return await self._db.read(usage_stats.asked, user, after, before, most)

    async def use_shares(
        self, user: UserKey, after: datetime | None, before: datetime | None, limit: int
    ) -> dict[str, dict[str, UseCount]]:
        """Items given and used by "category", "kind", "tag" and "entity", each with its names, the most used first."""
        return await self._db.read(usage_stats.shares, user, after, before, limit)

    async def used_memories(
        self, user: UserKey, limit: int
    ) -> tuple[list[UsedMemory], list[UsedMemory], int]:
        """The most used memories, the most important of those never used, and how many of these there are."""
        return await self._db.read(usage_stats.memories, user, limit)

    async def known_names(self, user: UserKey, keys: str) -> dict[str, str]:
        """Names of the user's entities by their keys, among a JSON list of keys."""
        return await self._db.read(usage_stats.known_names, user, keys)

    async def located(self, user: UserKey, expected: str, most: int) -> list[LocatedRow]:
        """Rows that are, or hold, what was expected of a search.

        A memory's id, a turn's id, or words.
        """
        return await self._db.read(diagnostics.located, user, expected, most)

    async def faults(self) -> list[Fault]:
        """What is wrong with the file."""
        return await self._db.read(maintenance.faults)

    async def reindex(self) -> int:
        """Makes all index entries anew; returns how many."""
        return await self._db.write(maintenance.reindex)

    async def backup(self, target: Path, progress: Callable[[int, int], None]) -> None:
        """Copies the file while others read and write; `progress` is told pages left and in all.

        Raises:
            InvalidInput: If the target exists.
            StoreError: If it cannot be written.
        """
        await self._db.read(maintenance.backup, target, progress)

    async def turn_entities(
        self, user: UserKey, turns: Sequence[int]
    ) -> dict[int, tuple[str, ...]]:
        """Names in each of the turns, by row number."""
        return await self._db.read(export_rows.entities_of, user, turns)

    async def happenings(self, turns: Sequence[int]) -> dict[int, tuple[EventTime, ...]]:
        """When what each of the turns tells of happened, by row number."""
        return await self._db.read(event_times.of_turns, turns)

    async def doubts(self, turns: Sequence[int]) -> dict[int, int]:
        """How often what the turns say was corrected and not confirmed since, by row number, of those that were."""
        return await self._db.read(export_rows.doubts_of, turns)

    async def places(self, keys: Sequence[int]) -> dict[int, datetime]:
        """The places in the order of what was told, by row number, of those turns that have another than their time."""
        return await self._db.read(turns.places, keys)

    async def waiting_among(self, turns: Sequence[int]) -> set[int]:
        """Those of the turns, by row number, that wait to be understood."""
        return await self._db.read(export_rows.waiting_among, turns)

    async def memory_records(
        self, user: UserKey, after: int, limit: int, last_turn: int
    ) -> list[tuple[int, MemoryRecord]]:
        """The user's next memories after a row number, whole, without those that were read in turns after the last one."""
        return await self._db.read(export_rows.memories, user, after, limit, last_turn)

    async def summary_records(self, user: UserKey) -> list[SummaryRecord]:
        """The user's summaries, whole."""
        return await self._db.read(export_rows.summaries, user)

    async def taking(
        self, source: str, form: str, *, with_forgotten: bool = False
    ) -> ImportSession:
        """An import, from where it was broken off or from the beginning."""
        return await self._db.read(import_rows.taking, source, form, with_forgotten=with_forgotten)

    async def import_records(
        self, taking: ImportSession, records: Sequence[ImportRecord], now: datetime, limit_s: float
    ) -> int:
        """Stores the records of an import that follow, for so many seconds, in one transaction.

        Returns how many.

        Raises:
            InvalidInput: If one cannot be used; then none of these is stored.
            StoreLocked: If the import is not where it was left.
            StoreError: If they could not be committed.
        """
        return await self._db.write(import_rows.import_records, taking, records, now, limit_s)

    async def link_taken(self, taking: ImportSession, links: Sequence[Link]) -> None:
        """Sets what memories of an import are to others."""
        await self._db.write(import_rows.link, taking, links)

    async def finish_import(self, taking: ImportSession, now: datetime) -> ImportResult:
        """Finishes an import; returns what it brought."""
        return await self._db.write(import_rows.finish, taking, now)

    async def give_up_import(self, source: str) -> None:
        """Says that what an unfinished import brought is to be taken back."""
        await self._db.write(imports.give_up, source)

    async def take_back(self, limit_s: float) -> bool:
        """Takes imports back for so many seconds that failed, or that somebody took back.

        False if there is none.
        """
        return await self.import_due() is not None and await self._db.write(
            import_rollback.portion, limit_s
        )

    async def import_due(self) -> int | None:
        """The number of the import that `take_back` takes next."""
        return await self._db.read(import_rollback.due)

    async def end_sessions(self, sessions: Sequence[tuple[str, str]]) -> None:
        """Marks sessions, given with the ids of their users, as ended."""
        await self._db.write(import_rows.end, sessions)

    async def related_sessions(
        self, user: UserKey, sessions: Sequence[int], limit: int
    ) -> dict[int, tuple[str, ...]]:
        """For each session those that speak most of the same people and things, by name."""
        return await self._db.read(summaries.related, user, sessions, limit)

    async def touch_memories(self, user: UserKey, ids: Sequence[str], now: datetime) -> None:
        """Counts an access of each memory."""
        await self._db.write(memories.touch, user, ids, now)

    async def end_session(self, user: UserKey, session_id: str) -> bool:
        """Marks a session as ended; False if it is unknown."""
        return await self._db.write(summaries.end, user, session_id)

    async def session_due(
        self, now: datetime, idle_s: float, *, thorough: bool = True
    ) -> int | None:
        """A session that is over, or untouched for so many seconds, to be summarised.

        In turn from all users who have some.

        Unless it is `thorough`, it looks at the sessions of a few users only, and the next time at
        those of others.
        """
        if await self._db.read(jobs.idle, now, idle_s):
            await self._db.write(jobs.end_idle, now, idle_s)
        found, more = await self._db.read(jobs.session, self._served)
        while thorough and found is None and more:
            found, more = await self._db.read(jobs.session, self._served)
        return found

    async def put_summary(
        self, seen: SummaryInput, summary: SessionSummary, topics: Mapping[str, Topic], text: str
    ) -> None:
        """Stores a session's summary and what its topics weigh, unless its turns changed since they were seen."""
        await self._db.write(summaries.put, seen, summary, topics, text)

    async def summarised(self, session: int) -> None:
        """Notes that a session is summarised to its end."""
        await self._db.write(summaries.done, session)

    async def summary(self, user: UserKey, session_id: str) -> SessionSummary | None:
        """A session's summary, or None while there is none."""
        return await self._db.read(summaries.of_session, user, session_id)

    async def record_usage(
        self,
        user: UserKey,
        block: ContextBlock,
        uses: tuple[ItemUse, ...],
        records: Sequence[QualityRecord],
        *,
        interrupted: bool,
    ) -> bool:
        """Stores a block's usage once, and adds its records to the user's quality.

        False if it is known already, or something was forgotten since.
        """

        def record(conn: Connection) -> bool:
            if not usage.record(conn, user, block, uses, interrupted=interrupted):
                return False
            quality.add(conn, user, records)
            return True

        return await self._db.write(record)

    async def quality(
        self, user: UserKey, first: date | None = None, last: date | None = None
    ) -> list[QualityRecord]:
        """The user's quality record from the first day to the last, both with it; None is open."""
        return await self._db.read(quality.of_user, user, first, last)

    async def recorded_usage(self, user: UserKey) -> list[tuple[str, str, int, tuple[str, ...]]]:
        """Recalls that were of use, with the turns whose words were used."""
        return await self._db.read(usage.recorded, user)

    async def learn_weights(
        self,
        user: UserKey,
        intent: Intent,
        step: Callable[[LearningState], LearningState],
        now: datetime,
    ) -> Weights:
        """Takes one step from what is learnt of a user and keeps it, with nothing learnt in between; returns the user's weights after it."""
        return await self._db.write(layer_weights.learn, user, intent, step, now)

    async def put_weights(self, user: UserKey, weights: Weights, now: datetime) -> None:
        """Sets the user's layer weights."""
        await self._db.write(layer_weights.put_weights, user, weights, now, "set")

    async def reset_weights(self, user: UserKey, now: datetime) -> Weights:
        """Forgets what was learnt of a user; returns the weights where users begin."""
        return await self._db.write(layer_weights.reset, user, now)

    async def weights_over_time(self, user: UserKey, limit: int) -> list[WeightSnapshot]:
        """The user's weights after each step, latest first."""
        return await self._db.read(layer_weights.over_time, user, limit)

    async def write_subject(self, user: UserKey, now: datetime, out: TextIO) -> dict[str, int]:
        """Writes everything that is held of a user as a document for people.

        Returns how many rows of each table.
        """
        return await self._db.read(subject_access.write, user, now, out)

    async def audit(self, user: UserKey | None, who: Actor, act: Act, now: datetime) -> None:
        """Writes down who did what."""
        await self._db.write(audit.record, user, who, act, now)

    async def prune_audit(self, before: datetime, limit: int) -> int:
        """Removes some of the entries from before a time; returns how many."""
        return (
            await self._db.write(audit.prune, before, limit)
            if await self._db.read(audit.any_before, before)
            else 0
        )

    async def clock(self) -> retention.Clock:
        """When the clock was last seen to be right, and when the newest row was written."""
        return await self._db.read(retention.clock)

    async def note_clock(self, now: datetime) -> None:
        """Notes that the clock is right."""
        await self._db.write(retention.note_clock, now)

    async def retained_next(
        self, category: Category | None, before: datetime, after: int
    ) -> tuple[UserKey | None, int | None]:
        """The next user of whom something is older than a time.

        See `hotmem.storage.queries.retention.following`.
        """
        return await self._db.read(retention.following, category, before, after)

    async def retainable(self, user: UserKey, category: Category | None, before: datetime) -> bool:
        """Whether something of a user is older than a time."""
        return await self._db.read(retention.due, user, category, before)

    async def retain(
        self,
        user: UserKey,
        category: Category | None,
        before: datetime,
        limit: int,
        *,
        dry_run: bool = False,
    ) -> tuple[ForgetResult, bool]:
        """Forgets some of what is older than a time.

        Returns how much went, and whether there is more. With `dry_run` it only counts.
        """
        return await (self._db.rehearse if dry_run else self._db.write)(
            retention.remove, user, category, before, limit
        )

    async def user_id(self, user: UserKey) -> str:
        """The id of a user's number."""
        return await self._db.read(users.name, user)

    async def audit_entries(
        self, user_id: str | None, since: datetime | None, action: Action | None, limit: int
    ) -> list[AuditEntry]:
        """Who did what, the latest first."""
        return await self._db.read(audit.entries, user_id, since, action, limit)

    async def words(self, user: UserKey) -> tuple[frozenset[str], frozenset[str]]:
        """The stems of what the user said or noted, and of all that is kept of them with what the bot said."""
        return await self._db.read(forget.words, user)

    async def forget(
        self,
        user: UserKey,
        *,
        memory_id: str | None = None,
        entity: str | None = None,
        session_id: str | None = None,
        turn_ids: Sequence[str] | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        everything: bool = False,
        dry_run: bool = False,
        grace: timedelta | None = None,
    ) -> ForgetResult:
        """Removes one kind of thing, everywhere; with `dry_run` it only counts what would go.

        With a time of grace it is kept until that is over, see `restore`. Without one, what was
        kept of it before is erased too.

        Raises:
            InvalidInput: If nothing was named.
        """
        run = self._db.rehearse if dry_run else self._db.write
        if everything:
            remove = forget.everything
        elif memory_id is not None:
            remove = partial(forget.memory, name=memory_id)
        elif entity is not None:
            remove = partial(forget.entity, name=entity)
        elif session_id is not None:
            remove = partial(forget.session, name=session_id)
        elif turn_ids is not None:
            remove = partial(forget.turns, names=turn_ids)
        elif after is not None or before is not None:
            remove = partial(forget.between, after=after, before=before)
        else:
            raise InvalidInput(
                "forget was not told what. Name memory_id, entity, session_id, turn_ids, after, before or everything=True."
            )
        if grace is not None and not dry_run:
            now = self._clock.now()
            removed = await self._db.write(
                deletions.keep, user, remove, now, now + grace, whole=everything
            )
            self._shelf.drop(user)
            return replace(removed, restorable_until=now + grace) if removed.anything else removed

        def remove_for_good(conn: Connection) -> ForgetResult:
            self._db.leave_unemptied()
            deletions.erase_holding(
                conn,
                user,
                memory_id=memory_id,
                entity=entity,
                session_id=session_id,
                turn_ids=turn_ids,
                after=after,
                before=before,
            )
            return forget.counted(conn, user, remove)

        removed = await run(remove_for_good)
        if not dry_run:
            self._shelf.drop(
                user
            )  # it holds words that were asked for, and reads what is left anew
        return removed

    async def restorable(self, user: UserKey) -> Restorable | None:
        """The user's latest deletion that can be brought back."""
        return await self._db.read(deletions.latest, user)

    async def restore(self, user: UserKey) -> tuple[Restorable, list[str]] | None:
        """Brings the user's latest deletion back.

        Returns it with the words that are there again, or None if there is none.
        """
        restored = await self._db.write(deletions.restore, user)
        self._shelf.drop(user)
        return restored

    async def forget_version(self) -> int:
        """How many times something was forgotten in this file."""
        return await self._db.read(deletion_marks.number)

    async def empty_journal(self, timeout_s: float) -> bool:
        """Removes what was forgotten from the journal beside the file too.

        False if another program's reading keeps it, see `finish_forgetting`.
        """
        return await self._db.empty_journal(timeout_s)

    async def finish_forgetting(self) -> None:
        """Does what forgetting left to do.

        Erases what was kept for a time that is over, and empties a journal that another program
        kept.
        """
        if self.read_only:
            return
        now = self._clock.now()

        def erase(conn: Connection) -> None:
            self._db.leave_unemptied()
            deletions.erase_due(conn, now)

        if not await self._db.read(deletions.clock_is_right, now):
            return
        if await self._db.read(deletions.misdated, now):
            await self._db.write(deletions.date_anew, now)
        if await self._db.read(deletions.due, now):
            await self._db.write(erase)
            log.info("deletions erased")
            await self._db.empty_journal(0)
        await self._db.retry_emptying()
