"""Sentences of a turn that are worth remembering.

The reader finds the words; here they become a statement in the third person.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from hotmem.models.reader import TurnPart, TurnReading
from hotmem.temporal import Bound, TimeMention, format_time, format_time_bare
from hotmem.text.stemming import STOP_STEMS, stem
from hotmem.types import Kind, Statement, Understanding
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.assertion import VERB_TAGS, drops_subject, joke_spans
from hotmem.understanding.facts.corrections import retracted_spans
from hotmem.understanding.facts.events import Plan, plan_statement, upcoming_times
from hotmem.understanding.facts.indirect_speech import third_person
from hotmem.understanding.facts.question_statements import last_question, statement_of_answer
from hotmem.understanding.facts.relations import Relation
from hotmem.understanding.facts.rewriting import find_contrasts
from hotmem.understanding.facts.third_person import TIME_PREPOSITIONS
from hotmem.understanding.facts.time_direction import resolve_times
from hotmem.understanding.named_subjects import subject_of
from hotmem.understanding.private_statements import is_order
from hotmem.understanding.term_model import REFERRING, clauses

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl", "csubj"})
_SUBORDINATE: Final = frozenset({"advcl", "relcl", "acl"})
_AUXILIARIES: Final = frozenset({"do", "be", "have"})
_FINITE: Final = frozenset({"VBZ", "VBD", "VBP", "MD"})
_BACK: Final = frozenset(
    {"he", "she", "it", "they", "this", "that", "these", "those", "one", "ones", "there", "which"}
)
"""Subjects that refer back to something said before; "there" may also begin a clause."""

_OPENING: Final = frozenset({"PRP$", "PRP", "NNP", "NNPS"})
"""Tags of first words that begin a statement rather than a fragment: "my", "I", a name."""

MIN_WHOLE: Final = 4
"""Words of a sentence from which it may be whole although its parse has no verb."""

_SPEAKER: Final = frozenset({"i", "me", "my", "us", "our", "we"})
"""In "they have me on pills" it does not matter who they are."""

_UNFINISHED_SENTENCE: Final = frozenset({"ADP", "SCONJ", "CCONJ", "DET", "PART"})
"""Last words after which something is missing: "he coughs when"."""


def stands_alone(part: Span) -> bool:
    """Whether words have a subject and a finite verb, and refer to nothing before them.

    A subject may be dropped where it is the speaker: "Just moved to Lyon". "It's a kilo" says
    nothing without what came before it, and "that I live in Rome" not who says so.

    Args:
        part: The words, a clause or more of a parsed turn.
    """
    words = [token for token in part if not token.is_punct and not token.is_space]
    if not words or words[0].dep_ == "mark" or _is_unfinished(words[-1]):
        return False
    subjects = [
        token for token in words if token.dep_ in _SUBJECTS and token.head.dep_ not in _SUBORDINATE
    ]
    first = subjects[0] if subjects else words[0]
    if subjects and is_elliptic(first.head):
        return False
    if subjects and any(token.tag_ in _FINITE for token in words if token.i > first.i):
        return not _refers_back(first, words)
    return _looks_whole(words) or (not subjects and any(map(drops_subject, words)))


def is_elliptic(verb: Token) -> bool:
    """Whether a verb is an auxiliary whose verb was said before: "but my wife doesn't"."""
    return (
        verb.lemma_ in _AUXILIARIES
        and verb.tag_ in ("VBD", "VBZ", "VBP")
        and all(one.dep_ in ("neg", "punct") for one in verb.rights)
    )


def _looks_whole(words: list[Token]) -> bool:
    """Whether words are a whole sentence that begins as statements do, whatever its parse.

    In "my nephew Tim studies at Oxford" the parser takes the verb for a noun.
    """
    first, last = words[0], words[-1]
    whole = not any(
        token.is_alpha
        for token in first.doc[first.sent.start : last.sent.end]
        if not first.i <= token.i <= last.i
    )
    return (
        whole and len(words) >= MIN_WHOLE and first.tag_ in _OPENING and first.lower_ not in _BACK
    )


def _is_unfinished(last: Token) -> bool:
    return last.pos_ in _UNFINISHED_SENTENCE and last.dep_ not in (
        "prt",
        "neg",
        "pobj",
        "dobj",
        "attr",
    )


def _refers_back(subject: Token, words: list[Token]) -> bool:
    """Whether a subject is a pronoun that means something before the words, or "there"."""
    if subject.lower_ not in _BACK or subject.dep_ == "expl":
        return False
    if subject.lower_ == "they" and any(one.lower_ in _SPEAKER for one in words):
        return False
    return not any(
        one.pos_ in ("NOUN", "PROPN") and one.dep_ in (*_SUBJECTS, "dobj", "pobj", "attr", "ROOT")
        for one in words
        if one.i < subject.i
    )


MIN_WORDS: Final = 3
MAX_WORDS: Final = 80
"""Words of a statement that can be understood alone; longer ones stay in their passages."""

MAX_SENTENCES: Final = 40
"""Words of the sentences that are kept where the part alone cannot be understood."""

STATES: Final = Relation("states")
"""Of sentences that are worth remembering."""

_LEFT: Final = re.compile(r"^(?:(?:on )?\w+days|\d{4})$", re.IGNORECASE)
"""What is left as it is: in "on Mondays" no Monday is meant, and a bare number may be a code."""

_UNFINISHED: Final = re.compile(r"(?:\?|\b(?:is|are|was|were)\.)$", re.IGNORECASE)
"""The end of a question, and of a clause whose rest was taken back: "my dentist is, no, sorry"."""

_ANNIVERSARIES: Final = re.compile(
    r"\b(?:birthdays?|anniversary|name[- ]day)\b(?! (?:party|dinner|trip|present|gift|cake))",
    re.IGNORECASE,
)
"""What returns every year, so that a date without a year is left as it is."""

PLANS: Final = ("plan", "reminder")
"""Kinds of parts with a time of their own."""

RELATIONS: Final = {
    "event": replace(STATES, kind=Kind.CONTEXT, importance=2),
    "preference": replace(STATES, kind=Kind.PREFERENCE),
    "code": replace(STATES, importance=5),
    "relationship": replace(STATES, importance=4),
    "fact": STATES,
}
"""The relation of other parts by their kind. Instructions are read by rules alone, as a bot obeys
them."""


def kept_sentences(
    doc: Doc,
    reading: TurnReading,
    understanding: Understanding,
    speaker: str,
    said_at: datetime,
    question: Doc | None = None,
) -> list[Plan]:
    """Return a statement, perhaps with its time, for each part of a turn that others do not hold.

    Args:
        doc: The parsed turn.
        reading: What the reader found in it.
        understanding: What the rules read in it, with offsets into `doc.text`.
        speaker: The speaker's name, or "the user".
        said_at: When it was said, in the speaker's time zone.
        question: What the bot had said before it.
    """
    named = [one for one in understanding.statements if not is_order(one)]
    left_out = (*joke_spans(doc.text), *retracted_spans(doc.text))
    parts = _with_antecedents(
        doc,
        (
            replace(part, start=start, stop=stop)
            for part in reading.parts
            for start, stop in clauses(doc, part.start, part.stop)
        ),
    )
    return [
        kept
        for part in parts
        if not any(start <= part.start < stop for start, stop in left_out)
        and not _is_held(doc, part, named)
        and (kept := _kept(doc, part, understanding.entities, speaker, said_at, question))
    ]


def in_third_person(doc: Doc, speaker: str, said_at: datetime) -> str:
    """Return a text in the third person, with dates for its relative times.

    Args:
        doc: The parsed text.
        speaker: The speaker's name, or "the user".
        said_at: When it was said or stored.
    """
    return _dated(third_person(doc, (0, len(doc.text)), speaker) or doc.text, doc[:], said_at)


def _with_antecedents(doc: Doc, parts: Iterable[TurnPart]) -> list[TurnPart]:
    """Join a part that begins with "he" to the one directly before it, which says who he is."""
    joined: list[TurnPart] = []
    for part in parts:
        before = joined[-1] if joined else None
        if before is not None and _continues(doc, before, part):
            kind = part.kind if part.kind in PLANS else before.kind
            joined[-1] = replace(before, stop=part.stop, kind=kind)
        else:
            joined.append(part)
    return joined


def _continues(doc: Doc, before: TurnPart, part: TurnPart) -> bool:
    words = _words(doc, part)
    if words is None or words[0].lower_ not in REFERRING:
        return False
    between = doc.text[before.stop : part.start]
    return words[0].sent.start_char <= before.start and not any(map(str.isalnum, between))


def _words(doc: Doc, part: TurnPart) -> Span | None:
    return doc.char_span(part.start, part.stop, alignment_mode="expand")


def _kept(
    doc: Doc,
    part: TurnPart,
    entities: Sequence[str],
    speaker: str,
    said_at: datetime,
    question: Doc | None,
) -> Plan | None:
    hedged = part.doubt != "sure"
    span = _words(doc, part)
    if span is None:
        return None
    kind = _dated_kind(part, span, said_at)
    if kind in PLANS:
        part, span = _with_governor(part, span)
        plan = plan_statement(
            doc, part.start, part.stop, speaker, said_at, hedged=hedged, entities=entities
        )
        asked = question is not None and last_question(question) is not None
        stated = asked or _has_core(span, plan)
        timed = bool(plan.times) or (
            question is not None and asked and bool(upcoming_times(question.text, said_at))
        )
        tells = _tells_what(doc, part, plan, timed=bool(plan.times) or asked)
        if stated and tells and (timed or _is_to_do(span)):
            return plan
        kind = "fact"
    if kind not in RELATIONS:
        return None
    text = "" if question is None else statement_of_answer(question, span, speaker)
    answered = bool(text)
    if not text:
        whole = span if stands_alone(span) else _sentences(span)
        if not stands_alone(whole) or (whole is not span and len(whole) > MAX_SENTENCES):
            return None
        span = whole
        text = third_person(doc, (whole.start_char, whole.end_char), speaker)
        text = _dated(text, whole, said_at)
    if not MIN_WORDS <= len(text.split()) <= MAX_WORDS or _UNFINISHED.search(text):
        return None
    about = None if answered else subject_of(span)
    subject = speaker if about is None else _subject(doc, about, speaker)
    statement = RELATIONS[kind].statement(subject, text, text, span.start_char, span.end_char)
    names = tuple(name for name in entities if name in text)
    return Plan(replace(statement, hedged=hedged, replaces=False, entities=names), ())


def _dated(text: str, said: Span, said_at: datetime) -> str:
    """A statement with its relative times as dates: "yesterday" says nothing next week."""
    for mention in resolve_times(said.doc, said_at):
        words = said.doc.text[mention.start : mention.stop].rstrip(".,;!? ")
        inside = said.start_char <= mention.start and mention.start + len(words) <= said.end_char
        exact = mention.bound is Bound.AT and not mention.vague
        recurs = mention.yearly and _ANNIVERSARIES.search(said.text)
        if inside and exact and not recurs and not _LEFT.search(words):
            text = _with_date(text, words, mention)
    return f"{text[:1].upper()}{text[1:]}"


def _with_date(text: str, words: str, mention: TimeMention) -> str:
    """A text with the date in the place of the words for it, without "on" after a preposition."""
    found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE)
    if found is None:
        return text
    before = text[: found.start()]
    bare = before.rpartition(" ")[0].rpartition(" ")[2].lower() in TIME_PREPOSITIONS
    date = format_time_bare(mention) if bare else format_time(mention)
    return f"{before}{date}{text[found.end() :]}"


def _with_governor(part: TurnPart, words: Span) -> tuple[TurnPart, Span]:
    """The part from the subject of the verb on that governs its infinitive.

    "To rehearse it with me" does not say who wants that.
    """
    if words[0].tag_ != "TO" or words[0].head.dep_ not in ("xcomp", "ccomp"):
        return part, words
    governor = words[0].head.head
    subject = next((one for one in governor.children if one.dep_ in ("nsubj", "nsubjpass")), None)
    if subject is None or subject.pos_ == "PRON" or governor.i > words[0].i:
        return part, words
    first = subject.left_edge
    return replace(part, start=first.idx), words.doc[first.i : words.end]


def _is_to_do(words: Span) -> bool:
    """Whether words without a time say what is to be done, and not only how things are.

    They have an infinitive or a modal verb, and stand alone unless they begin with a verb: "the
    left door does not shut" is a fact, "all night" and "who cooks" are no whole sentences.
    """
    begins_with_verb = words[0].tag_ in ("VB", "TO")
    return begins_with_verb or (
        any(token.tag_ in ("TO", "MD") for token in words) and stands_alone(words)
    )


def _tells_what(doc: Doc, part: TurnPart, plan: Plan, *, timed: bool) -> bool:
    """Whether a plan has a time, perhaps that of a question, and says what is to happen."""
    words = [
        token
        for token in doc
        if part.start <= token.idx < part.stop
        and not any(time.start <= token.idx < time.stop for time in plan.times)
    ]
    if not timed and part.kind == "plan":
        return False
    return any(token.pos_ in ("NOUN", "VERB") and _is_content(token) for token in words)


def _dated_kind(part: TurnPart, words: Span, said_at: datetime) -> str:
    """The kind of a part, which its times tell better than the reader.

    What is over is no plan ("we met in July"), what is ahead is one ("the film starts at eight"),
    and what returns every year is neither.
    """
    if part.kind not in ("plan", "event", "fact"):
        return part.kind
    times = [
        one for one in resolve_times(words.doc, said_at) if part.start <= one.start < part.stop
    ]
    if not times:
        return part.kind
    if _ANNIVERSARIES.search(words.text):
        return "fact"
    if all(one.interval.end <= said_at for one in times):
        return "event" if part.kind == "plan" else part.kind
    ahead = any(one.interval.start > said_at and not one.vague for one in times)
    return "plan" if ahead else part.kind


def _has_core(words: Span, plan: Plan) -> bool:
    """Whether a plan has a verb, or a noun that its time belongs to: "dentist on Monday"."""
    if any(token.pos_ in VERB_TAGS for token in words):
        return True
    root = words.root
    timed = [time for time in plan.times if words.start_char <= time.start < words.end_char]
    return bool(timed) and not any(time.start <= root.idx < time.stop for time in timed)


def _sentences(part: Span) -> Span:
    """The sentences that a part of a turn belongs to."""
    return part.doc[part[0].sent.start : part[-1].sent.end]


def _subject(doc: Doc, about: Span, speaker: str) -> str:
    """The subject of a clause in the third person, with capitals for its names."""
    words = third_person(doc, (about.start_char, about.end_char), speaker).removesuffix(".")
    names = {token.lower_ for token in about if token.pos_ == "PROPN"}
    return " ".join(
        word[:1].upper() + word[1:] if word.casefold() in names else word for word in words.split()
    )


def _is_held(doc: Doc, part: TurnPart, statements: Sequence[Statement]) -> bool:
    """Whether all content words of a part are in the statements, or one is a reminder of it."""
    if any(
        one.kind is Kind.REMINDER and one.start < part.stop and part.start < one.stop
        for one in statements
    ):
        return True
    denied = [(one.start, one.stop) for one in find_contrasts(doc)]
    return all(
        any(one.start <= token.idx < one.stop for one in statements)
        for token in doc
        if part.start <= token.idx < part.stop
        and _is_content(token)
        and not any(start <= token.idx < stop for start, stop in denied)
    )


def _is_content(token: Token) -> bool:
    value = token.pos_ == "NUM" or stem(token.lower_) not in STOP_STEMS
    return token.text[:1].isalnum() and value
