"""Turns → Understanding, a few turns at a time, with capitals restored where there are none."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final, Self

from hotmem.core.threads import ForegroundPriority
from hotmem.models import Encoder, Language
from hotmem.models.encoders import TURNS
from hotmem.models.reader import Effects, Reader, ReaderLimits, TurnReading
from hotmem.text.language_detection import is_english
from hotmem.text.languages import ENGLISH
from hotmem.text.passages import join_spans, truncate, truncated_spans
from hotmem.types import Kind, Profile, Role, Statement, StoredMemory, Turn, TurnContext
from hotmem.types.understanding import Doc, Understanding
from hotmem.understanding.facts import extract_facts
from hotmem.understanding.facts.assertion import has_laughter, is_denied_at_once
from hotmem.understanding.facts.classification import classify_statements
from hotmem.understanding.facts.corrections import (
    lacks_case,
    read_corrections,
    remove_repairs,
    remove_stutter,
    sentence_starts,
    truecase,
)
from hotmem.understanding.facts.events import Plan, answered_times
from hotmem.understanding.facts.pipeline import UNNAMED_SPEAKER, sorted_with_tags
from hotmem.understanding.facts.question_statements import completed_answer
from hotmem.understanding.facts.rewriting import (
    RewrittenText,
    Segment,
    has_pronoun,
    resolve_pronouns,
    rewrite,
)
from hotmem.understanding.kept_sentences import STATES, in_third_person, kept_sentences
from hotmem.understanding.life_relations import CHANGING, IMPORTANCE, OTHER, life_relation
from hotmem.understanding.named_subjects import confirmed_effects, full_subject, named_subjects
from hotmem.understanding.private_statements import (
    as_secret_as,
    in_doubt,
    is_order,
    mark_hearsay,
    may_be_role,
)
from hotmem.understanding.query.misheard import MisheardName, find_misheard_names
from hotmem.understanding.turn_retention import read_long

BATCH: Final = 4
"""Turns parsed at once; parses run one at a time, a question's among them."""

BATCH_CHARACTERS: Final = 1_000
"""Characters of several turns parsed at once."""

MIN_KEPT: Final = 0.3
"""Probability of holding anything lasting below which a turn's statements are in doubt: a dream, a
story, a joke."""

MIN_COMPARED: Final = 0.001
"""The same below which a turn is not compared with what is known. On batch `l`, none of the turns
whose change the reader sees is below."""

MAX_CHARACTERS: Final = {Role.USER: 4_000, Role.ASSISTANT: 600}
"""Characters of a turn that are parsed. All of a longer one is still found by words and vectors."""

MAX_NOTE_CHARACTERS: Final = 1_000
"""Characters of a stored text that are parsed while somebody waits for it, in half a second."""

FIRST_PERSON: Final = re.compile(r"(?<![\w'’])(?:I|[Mm](?:y|e|ine)|[Ww]e|[Oo]urs?)(?!\w)")
"""Words of a statement that was stored as the user would say it."""

STAND_IN: Final = "Robin"
"""A name that stands for a user without one while a text about "the user" is read."""

_USER: Final = re.compile(r"(?<![\w'’])(?:[Tt]he )?[Uu]ser(?=['’]s\b| [a-z])")


class TurnReader:
    """Reads what turns state.

    Args:
        encoder: Classifies statements by their meaning.
        language: Parses texts.
        priority: Lets recalls go first between two turns.
        reader: Finds what is worth remembering, and what changes what; without it, only names,
            wishes, reminders and corrections are read.
        expected: The language that is mostly spoken.

    Attributes:
        limits: Probabilities from which a turn changes what is known.
    """

    def __init__(
        self,
        encoder: Encoder,
        language: Language,
        priority: ForegroundPriority,
        reader: Reader | None = None,
        *,
        expected: str = ENGLISH,
    ) -> None:
        self._encoder = encoder
        self._language = language
        self._priority = priority
        self._reader = reader
        self._expected = expected
        self.limits = reader.settings if reader else ReaderLimits()

    def read(
        self,
        turns: Sequence[Turn],
        profiles: Sequence[Profile],
        owners: Sequence[str | None],
        contexts: Sequence[TurnContext],
    ) -> list[Understanding]:
        """What each turn states. Blocking; takes tens of milliseconds.

        Args:
            turns: Turns.
            profiles: For each turn, the names its user is known to use.
            owners: For each turn, as `mark_hearsay` takes it, or None for one of the user.
            contexts: For each turn what was said directly before it.
        """
        understandings = []
        for turn, doc, profile, owner, context in zip(
            turns, self.parse(turns), profiles, owners, contexts, strict=True
        ):
            if not self.reads(doc.text):
                understandings.append(Understanding())
                continue
            self._priority.wait_idle_blocking()
            known = (*profile.speakers, *profile.entities)
            cased = not lacks_case(doc.text)
            misheard = self._misheard(turn, doc, profile, cased=cased)
            rewritten = rewrite(doc.text, ((one.start, one.stop, one.name) for one in misheard))
            if rewritten is not None:
                doc = self._parse_one(rewritten.text)
                known = (*known, *(one.name for one in misheard))
            doc = doc if cased else self._truecased(doc, known)
            changed = [] if rewritten is None else [rewritten]
            for remove in (remove_stutter, remove_repairs) if turn.role == Role.USER else ():
                fluent = remove(doc)
                if fluent is not None:
                    doc = self._parse_one(fluent.text)
                    changed.append(fluent)
            understanding = self._read_in_context(turn, doc, context)
            for one in reversed(changed):
                understanding = one.restore_offsets(understanding)
            understanding = _with_offsets_in_turn(understanding, turn)
            if is_denied_at_once(turn.text):
                doubted = tuple(map(in_doubt, understanding.statements))
                understanding = replace(understanding, statements=doubted)
            if owner is not None:
                understanding = mark_hearsay(understanding, owner, turn)
            understandings.append(as_secret_as(understanding, turn))
        return understandings

    def reads(self, text: str) -> bool:
        """Whether a text is English. What is said in another language states nothing."""
        return is_english(text, self._expected)

    def _read_in_context(self, turn: Turn, doc: Doc, context: TurnContext) -> Understanding:
        """What a turn states, read with the question that it answers and whom it means by "he"."""
        if turn.role != Role.USER:
            return self._extract(turn, doc)
        asked = self._parse_end(context.question)
        understanding = self._read_after(turn, doc, asked, context)
        if asked and not understanding.event_times:
            times = answered_times(asked[0], doc, turn.spoken_at)
            understanding = replace(understanding, event_times=times)
        return understanding

    def _read_after(
        self, turn: Turn, doc: Doc, asked: Sequence[Doc], context: TurnContext
    ) -> Understanding:
        question = asked[0] if asked else None
        completed = completed_answer(question, doc) if question is not None else None
        if completed is not None:
            whole = self._parse_one(completed.text)
            understanding = self._with_sentences(self._extract(turn, whole), whole, turn)
            if understanding.statements:
                return completed.restore_offsets(understanding)
        resolved = None
        if has_pronoun(doc):
            resolved = resolve_pronouns(doc, [*asked, *self._parse_end(context.earlier)])
        if resolved is None:
            return self._with_sentences(self._extract(turn, doc), doc, turn, question)
        doc = self._parse_one(resolved.text)
        return resolved.restore_offsets(
            self._with_sentences(self._extract(turn, doc), doc, turn, question)
        )

    def _parse_end(self, text: str) -> list[Doc]:
        """The parse of the end of a turn that was said before; none if there was none."""
        return [self._parse_one(text[-MAX_CHARACTERS[Role.ASSISTANT] :])] if text else []

    def _extract(self, turn: Turn, doc: Doc) -> Understanding:
        return extract_facts(
            doc, self._parse_one, turn.speaker, Role(turn.role), turn.spoken_at, self._classify
        )

    def _with_sentences(
        self, understanding: Understanding, doc: Doc, turn: Turn, question: Doc | None = None
    ) -> Understanding:
        """The understanding with all else that is worth remembering."""
        if self._reader is None:
            return understanding
        reading = read_long(self._reader, "" if question is None else question.text, doc.text)
        speaker = turn.speaker or UNNAMED_SPEAKER
        understanding = replace(
            understanding,
            statements=tuple(
                in_doubt(one) if self._is_unsure(one, reading, doc, speaker) else one
                for one in understanding.statements
            ),
        )
        kept = kept_sentences(doc, reading, understanding, speaker, turn.spoken_at, question)
        stated = kept or understanding.statements or understanding.corrections
        lasting = 1.0 if stated and reading.kept >= MIN_KEPT else reading.kept
        joined = self._joined(understanding, doc, kept)
        return replace(joined, lasting=lasting, named=named_subjects(doc))

    def _is_unsure(
        self, statement: Statement, reading: TurnReading, doc: Doc, speaker: str
    ) -> bool:
        """Whether a statement stands in a turn that holds nothing lasting, as far as it can tell.

        Orders need not be lasting for the reader, which scores "keep it short" as small talk.
        """
        if is_order(statement) and not has_laughter(doc.text):
            return False
        limit = self.limits.kept if may_be_role(statement, speaker) else MIN_KEPT
        return reading.kept < limit

    def _joined(
        self, understanding: Understanding, doc: Doc, kept: Sequence[Plan]
    ) -> Understanding:
        """The understanding with more statements, each once, in the order of their words."""
        found = self._classified(doc, [one.statement for one in kept])
        times = {time.start: time for one in kept for time in one.times}
        times |= {time.start: time for time in understanding.event_times}
        every = {one.text: one for one in (*found, *understanding.statements)}
        statements = sorted(every.values(), key=lambda one: (one.start, one.stop))
        return replace(
            understanding,
            statements=tuple(statements),
            event_times=tuple(times[start] for start in sorted(times)),
        )

    def _classified(self, doc: Doc, kept: Sequence[Statement]) -> list[Statement]:
        """Kept sentences with their categories, and what they tell of somebody's life."""
        if not kept:
            return []
        kept = list(sorted_with_tags(doc, kept))
        vectors = self._encoder.encode([one.text for one in kept])
        found = []
        for one, other, vector in zip(kept, self._classify(doc, kept), vectors, strict=True):
            if one.kind is not Kind.REMINDER:
                one = replace(
                    one,
                    category=other.category,
                    category_probability=other.category_probability,
                )
            relation = life_relation(vector) if self._encoder.name == TURNS else OTHER
            if one.relation == STATES.name and relation in IMPORTANCE:
                importance, changes = IMPORTANCE[relation], relation in CHANGING
                one = replace(one, relation=relation, importance=importance, changes=changes)
            found.append(one)
        return found

    def compare(
        self, known: Sequence[StoredMemory], text: str, speaker: str | None
    ) -> list[Effects]:
        """What a new text does to stored memories. Blocking; some milliseconds for each.

        Args:
            known: The memories; those in the first person are put into the third.
            text: The text, as the user said or stored it.
            speaker: The user's name in the memories.
        """
        if self._reader is None:
            return []
        parse = cache(lambda: next(self.restore_case([self._parse_one(text)])))
        effects = []
        for memory in known:
            self._priority.wait_idle_blocking()
            statement, subject = self._about_user(memory, speaker), full_subject(memory)
            effects.append(confirmed_effects(self._reader, statement, subject, text, parse))
        return effects

    def _about_user(self, memory: StoredMemory, speaker: str | None) -> str:
        """A memory in the third person, with "the user" for the speaker's name."""
        if not FIRST_PERSON.search(memory.text):
            return unnamed(memory.text, speaker)
        return in_third_person(self._parse_one(memory.text), UNNAMED_SPEAKER, memory.said_at)

    def in_foreground(self) -> Self:
        """A reader of what somebody waits for, which waits for nobody itself."""
        return type(self)(
            self._encoder,
            self._language,
            ForegroundPriority(),
            self._reader,
            expected=self._expected,
        )

    def read_note(self, text: str, speaker: str | None, now: datetime) -> Understanding:
        """What a text states that was stored, not said. Blocking.

        Args:
            text: The text, about the user in the first or the third person.
            speaker: The user's name; None if it is not known.
            now: When it is stored, UTC.
        """
        name = speaker or STAND_IN
        turn = Turn(
            user_id=name,
            session_id=name,
            role=Role.USER,
            text=truncate(_USER.sub(name, text), MAX_NOTE_CHARACTERS),
            speaker=name,
            spoken_at=now,
        )
        (read,) = self.read([turn], [Profile()], [None], [TurnContext()])
        if speaker is not None:
            return read
        return replace(
            read,
            statements=tuple(
                replace(
                    one,
                    text=unnamed(one.text, name),
                    subject=one.subject.replace(name, UNNAMED_SPEAKER),
                    object=one.object.replace(name, UNNAMED_SPEAKER),
                )
                for one in read.statements
            ),
            named=read.named - {name.casefold()},
        )

    def parse(self, turns: Sequence[Turn]) -> Iterator[Doc]:
        """Parses of the turns, a few at a time, so that a recall waits for a few at most."""
        yield from self.parse_texts([parsed_text(turn) for turn in turns])

    def parse_texts(self, texts: Sequence[str]) -> Iterator[Doc]:
        """Parses of texts, likewise."""
        while texts:
            sizes = range(BATCH, 1, -1)
            size = next(
                (size for size in sizes if sum(map(len, texts[:size])) <= BATCH_CHARACTERS), 1
            )
            yield from self._language.parse(texts[:size])
            texts = texts[size:]

    def restore_case(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        """The parses, with capitals and sentence boundaries restored where there are none."""
        for doc in docs:
            self._priority.wait_idle_blocking()
            yield self._truecased(doc, ()) if lacks_case(doc.text) else doc

    def _parse_one(self, text: str) -> Doc:
        return self._language.parse([text])[0]

    def _classify(self, doc: Doc, statements: Sequence[Statement]) -> Sequence[Statement]:
        return classify_statements(doc, statements, self._encoder)

    def _misheard(
        self, turn: Turn, doc: Doc, profile: Profile, *, cased: bool
    ) -> Sequence[MisheardName]:
        """Known names that stand as other words in what the user said."""
        if turn.role != Role.USER:
            return ()
        return find_misheard_names(
            doc,
            profile.known_names,
            lambda text: self._language.parse([text], names=False)[0],
            self._language.is_word,
            cased=cased,
            statement=True,
            corrections=tuple(read_corrections(doc, turn.spoken_at)),
        )

    def _truecased(self, doc: Doc, names: Sequence[str]) -> Doc:
        """The parse of a text without case, with capitals and sentence boundaries restored."""
        lowered = doc.text.lower()
        if lowered != doc.text and len(lowered) == len(doc.text):
            doc = self._parse_one(lowered)
        starts = sentence_starts(doc)
        return self._language.parse_sentences(truecase(doc, starts, names), starts)


def unnamed(statement: str, speaker: str | None) -> str:
    """A statement with "the user" for the speaker's name, as the reader was trained."""
    if not speaker:
        return statement
    named = re.sub(rf"(?<!\w){re.escape(speaker)}(?!\w)", UNNAMED_SPEAKER, statement)
    return named[:1].upper() + named[1:]


def parsed_text(turn: Turn) -> str:
    """The part of a turn that is parsed."""
    return truncate(turn.text, MAX_CHARACTERS[Role(turn.role)])


def _with_offsets_in_turn(understanding: Understanding, turn: Turn) -> Understanding:
    """What was read from the parsed part, with character offsets in the whole turn."""
    spans = truncated_spans(turn.text, MAX_CHARACTERS[Role(turn.role)])
    if len(spans) == 1:
        return understanding
    segments = tuple(Segment(join_spans(turn.text, [span]), *span) for span in spans)
    return RewrittenText(segments).restore_offsets(understanding)
