"""Facts of clauses with other verbs: states, habits, plans, wishes and duties."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from hotmem.temporal import (
    WEEKDAYS,
    Granularity,
    TimeMention,
    find_times,
    format_time,
    format_time_bare,
)
from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types import Correction, Statement
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.clauses import Clause, Tense, read_clauses
from hotmem.understanding.facts.copulas import read_copula
from hotmem.understanding.facts.events import (
    INTRANSITIVE_EVENTS,
    has_informative_complement,
    read_event,
    rescheduled_event,
)
from hotmem.understanding.facts.predicates import (
    Fact,
    complement,
    conjuncts,
    first_mention,
    has_deictic_place,
    inner_phrase,
    predicate_words,
    read_general_verb,
)
from hotmem.understanding.facts.relations import (
    CAN,
    COMPLEMENTS,
    DID,
    DISLIKES,
    DOES,
    HAS,
    HAS_CONDITION,
    HAS_TO,
    IS_DETAIL,
    IS_ON,
    KNOWS,
    LEARNS,
    LIKES,
    LIVES_IN,
    LIVES_WITH,
    PLANS_TO,
    PREFERS,
    REGULARLY,
    STATIVE_RELATIONS,
    STUDIES,
    WANTS,
    WORKS_AT,
    WORKS_ON,
    Relation,
    phrase,
)
from hotmem.understanding.facts.spelled_codes import code_after
from hotmem.understanding.facts.statements import to_statement
from hotmem.understanding.facts.subjects import Subject, resolve
from hotmem.understanding.facts.third_person import sentence
from hotmem.understanding.facts.time_direction import current_times
from hotmem.understanding.lexicon import DETAIL_NOUNS, EVENT_NOUNS, FREQUENCY_VERBS
from hotmem.understanding.query.entities import is_name

_WORDS: Final = word_sets(__file__)

_LIGHT_VERBS: Final = _WORDS["light_verbs"]
"""Verbs that make no plan or habit alone; "go" and "get" do with a time or a place name."""

_FREQUENCY_ADVERBS: Final = _WORDS["frequency_adverbs"]
_RECURRING_NOUNS: Final = frozenset(WEEKDAYS) | wordlist("weekend weekday morning evening")
_PERIOD_NOUNS: Final = _RECURRING_NOUNS | wordlist("day week month night year afternoon")
_ABILITY_VERBS: Final = _WORDS["ability_verbs"]
_LISTED_RELATIONS: Final = frozenset({LIKES, DISLIKES, HAS, CAN, LEARNS, STUDIES, HAS_CONDITION})
_CONTEXTUAL_NOUNS: Final = _WORDS["contextual_nouns"]
_GENERIC_NOUNS: Final = _WORDS["generic_nouns"]
"""Nouns that are generic with "the": "the sea"."""

_DURATION_NOUNS: Final = wordlist("time moment bit lot ton while")
_COURSE_NOUNS: Final = _WORDS["course_nouns"]


def read_verb(clause: Clause, subject: Subject, mentions: Sequence[TimeMention]) -> Iterator[Fact]:
    """Yield the facts of a clause whose verb is not "be"."""
    words = predicate_words(clause)
    mention = first_mention(words, mentions)
    match clause.frame, clause.tense:
        case "must", Tense.PRESENT:
            yet = any(child.lower_ == "yet" for child in clause.finite.children)
            if (
                (clause.subject is None or clause.subject.lower_ in ("i", "we"))
                and not clause.negated
                and not yet
                and has_informative_complement(clause.verb, mention, light=_LIGHT_VERBS)
            ):
                yield Fact(HAS_TO, inner_phrase(clause), words)
        case "want", Tense.PRESENT:
            if not clause.negated and has_informative_complement(
                clause.verb, mention, light=_LIGHT_VERBS
            ):
                yield Fact(WANTS, inner_phrase(clause), words)
        case "can", Tense.PRESENT:
            if clause.verb.lemma_ == "stand":
                yield from _read_state(clause, words, mention)
            elif clause.verb.lemma_ in _ABILITY_VERBS or (
                clause.negated and clause.verb.lemma_ in ("eat", "drink", "drive")
            ):
                yield Fact(CAN, inner_phrase(clause), words)
        case "plan", _:
            if (
                clause.tense is not Tense.PAST
                and not clause.negated
                and has_informative_complement(clause.verb, mention, light=_LIGHT_VERBS)
            ):
                yield Fact(PLANS_TO, inner_phrase(clause), words)
        case "used", _:
            if clause.verb.lemma_ not in _LIGHT_VERBS and has_informative_complement(
                clause.verb, mention, light=frozenset()
            ):
                yield Fact(DID, inner_phrase(clause), words)
        case "", Tense.FUTURE:
            if (
                mention is not None
                and not clause.negated
                and clause.verb.lemma_ not in _LIGHT_VERBS - {"go", "get", "have", "see"}
            ):
                yield Fact(PLANS_TO, inner_phrase(clause), words)
        case "", Tense.PAST:
            yield from read_event(clause, words, mention)
        case "start", _:
            yield from _read_phase_verb(clause, words, mention)
        case "", Tense.PRESENT:
            yield from _read_present(clause, words, mention)


def _read_phase_verb(
    clause: Clause, words: tuple[Token, ...], mention: TimeMention | None
) -> Iterator[Fact]:
    """Read what began or ended: "started working at Bosch" is a job."""
    if clause.verb.lemma_ == "move":
        yield from read_event(clause, words, mention)
    elif states := tuple(_read_state(clause, words, mention)):
        yield from states
    elif not clause.negated and has_informative_complement(
        clause.verb, mention, light=_LIGHT_VERBS
    ):
        yield Fact(DID if clause.tense is Tense.PAST else DOES, inner_phrase(clause), words)


def _read_present(
    clause: Clause, words: tuple[Token, ...], mention: TimeMention | None
) -> Iterator[Fact]:
    verb = clause.verb
    progressive = verb.tag_ == "VBG" or any(
        child.lower_ == "getting" for child in verb.children if child.dep_ == "auxpass"
    )
    since = any(
        child.dep_ == "prep" and child.lower_ in ("since", "for") for child in verb.children
    )
    if (
        progressive
        and clause.finite.lemma_ == "be"
        and not since
        and mention is not None
        and not _is_today(verb, mention)
        and mention.granularity is not Granularity.YEAR
        and not clause.negated
    ):
        if verb.lemma_ in INTRANSITIVE_EVENTS or has_informative_complement(
            verb, mention, light=_LIGHT_VERBS - {"go", "get", "have", "see", "take"}
        ):
            yield Fact(PLANS_TO, inner_phrase(clause), words)
        return
    if states := tuple(_read_state(clause, words, mention)):
        yield from states
    elif (
        not progressive
        and _is_habitual(verb)
        and verb.lemma_ not in _LIGHT_VERBS - {"go", "take"}
        and len(phrase(verb)) > 1
    ):
        yield Fact(REGULARLY, inner_phrase(clause), words)


def _read_state(
    clause: Clause, words: tuple[Token, ...], mention: TimeMention | None
) -> Iterator[Fact]:
    verb = clause.verb
    if verb.lemma_ in ("work", "live") and clause.negated and has_deictic_place(verb):
        yield Fact(WORKS_AT if verb.lemma_ == "work" else LIVES_IN, (), words)
        return
    if verb.lemma_ == "live" and (alone := _alone_words(verb)):
        yield Fact(LIVES_WITH, alone, words)
        return
    if (
        verb.lemma_ == "do"
        and (course := complement(verb, "dobj")) is not None
        and course.lemma_.lower() in _COURSE_NOUNS
    ):
        yield Fact(STUDIES, phrase(course), words)
        return
    if verb.lemma_ in ("have", "get"):
        yield from _read_possession(clause)
        return
    for slot in (
        *(child.lower_ for child in verb.children if child.dep_ in ("prep", "agent")),
        "dobj",
        "xcomp",
    ):
        relation, head = STATIVE_RELATIONS.get((verb.lemma_, slot)), complement(verb, slot)
        if relation is None or head is None or not _is_informative(relation, head, clause):
            continue
        for one in conjuncts(head) if relation in _LISTED_RELATIONS else (head,):
            if _is_informative(relation, one, clause):
                yield Fact(
                    relation,
                    phrase(one, bare=relation.single, split=True),
                    predicate_words(clause, only=one, head=head),
                )
        return


def _is_informative(relation: Relation, head: Token, clause: Clause) -> bool:
    """Whether the complement is worth keeping with this relation."""
    progressive = clause.verb.tag_ == "VBG"
    if (
        head.pos_ not in ("NOUN", "PROPN", "VERB", "ADJ", "X")
        or head.ent_type_ in ("DATE", "TIME")
        or head.lemma_.lower() in _DURATION_NOUNS
    ):
        return False
    if (
        clause.verb.lemma_ in FREQUENCY_VERBS
        and not (progressive and relation is WORKS_ON)
        and not clause.negated
        and not _is_habitual(clause.verb)
    ):
        return False
    if relation is REGULARLY:
        return head.pos_ == "NOUN" and (clause.verb.lemma_ != "take" or not clause.negated)
    determiners = {child.lower_ for child in head.children if child.dep_ in ("det", "poss")}
    if relation in (LIKES, DISLIKES, PREFERS):
        definite = (
            "the" in determiners and head.tag_ == "NN" and head.lemma_.lower() not in _GENERIC_NOUNS
        )
        return (
            head.lemma_.lower() not in _CONTEXTUAL_NOUNS
            and not definite
            and (
                head.pos_ != "VERB"
                or head.lemma_ not in ("hear", "see", "know", "think", "say", "be", "have")
            )
        )
    if relation is WANTS:
        return head.pos_ in ("NOUN", "PROPN") and bool(determiners & {"a", "an"})
    if relation is CAN:
        return (
            head.lemma_.lower() in COMPLEMENTS[CAN]
            or head.lower_ in COMPLEMENTS[CAN]
            or head.ent_type_ == "LANGUAGE"
        )
    if relation is HAS:
        return (
            "the" not in determiners
            and head.pos_ == "NOUN"
            and not (clause.verb.lemma_ == "drive" and head.lemma_ not in COMPLEMENTS[HAS])
        )
    if relation is KNOWS:
        return head.pos_ == "PROPN" and is_name(head)
    if relation is WORKS_AT or relation is LIVES_IN:
        return (
            (head.pos_ in ("PROPN", "NOUN") and "the" not in determiners)
            or is_name(head)
            or relation is WORKS_AT
        )
    return True


def _alone_words(verb: Token) -> tuple[Token, ...]:
    """Return "alone", "on my own" or "by myself" after "live"; () otherwise."""
    for child in verb.children:
        if child.lower_ == "alone":
            return (child,)
        if child.dep_ == "prep" and any(
            part.lower_ in ("own", "myself", "ourselves") for part in child.children
        ):
            return tuple(child.subtree)
    return ()


def _read_possession(clause: Clause) -> Iterator[Fact]:
    """Read what someone has ("a dog and two cats", "asthma"), if it is worth keeping."""
    head = complement(clause.verb, "dobj")
    if head is None or (clause.verb.lemma_ == "get" and clause.verb.lower_ != "got"):
        return
    if clause.verb.tag_ == "VBG":
        return
    for one in conjuncts(head):
        lemma = one.lemma_.lower()
        owned = (
            any(
                child.dep_ in ("det", "nummod", "amod", "poss")
                and child.lower_ not in ("the", "this", "that", "any")
                for child in one.children
            )
            or one.tag_ == "NNS"
            or clause.negated
        )
        if lemma in COMPLEMENTS[HAS_CONDITION] or one.lower_ in COMPLEMENTS[HAS_CONDITION]:
            yield Fact(
                HAS_CONDITION, phrase(one, split=True), predicate_words(clause, only=one, head=head)
            )
        elif lemma in COMPLEMENTS[HAS] and owned:
            yield Fact(HAS, phrase(one, split=True), predicate_words(clause, only=one, head=head))


def _is_today(verb: Token, mention: TimeMention) -> bool:
    """Whether the time is "today", so that the progressive is present and no plan."""
    return any(
        token.lower_ == "today" and mention.start <= token.idx < mention.stop
        for token in verb.subtree
    )


def _is_habitual(verb: Token) -> bool:
    """Whether the verb recurs: "usually", "every morning", "on Sundays", "twice a week"."""
    for child in verb.children:
        if child.lower_ in _FREQUENCY_ADVERBS:
            return True
        if (
            child.dep_ == "npadvmod"
            and child.lemma_.lower() in _PERIOD_NOUNS
            and any(part.lower_ in ("every", "each", "a") for part in child.children)
        ):
            return True
        if child.dep_ == "prep" and any(
            part.tag_ in ("NNS", "NNPS") and part.lemma_.lower().rstrip("s") in _RECURRING_NOUNS
            for part in child.children
        ):
            return True
        if child.dep_ == "advmod" and child.lower_ in ("once", "twice"):
            return any(part.lemma_ in _PERIOD_NOUNS for part in child.subtree)
    return False


_PRONOUN_NOUNS: Final = {"he": "friend", "she": "friend", "they": "friend", "it": "car"}
"""Third-person pronouns, each with a noun of the kind that it may stand for."""


def read_admitted_correction(doc: Doc, speaker: str, said_at: datetime) -> Iterator[Correction]:
    """Yield the correction in the first clause about "she", "he" or "it", if there is one.

    For turns that admit a mistake: "I said something silly, she's from Latvia".
    """
    mentions = find_times(doc.text, said_at, ahead=True)
    for clause in read_clauses(doc):
        pronoun = clause.subject
        if pronoun is None or pronoun.lower_ not in _PRONOUN_NOUNS or clause.negated:
            continue
        said, stop = pronoun.lower_, pronoun.idx + len(pronoun)
        someone = Subject(said, said, _PRONOUN_NOUNS[said], pronoun.idx, stop)
        for fact in _read_facts(clause, someone, mentions):
            statement = to_statement(clause, someone, fact, mentions, speaker, (), said_at)
            if statement is not None and statement.object:
                yield Correction(
                    "", statement.object, statement.start, statement.stop, statement.relation
                )
                return


def read_clause_statements(
    doc: Doc,
    speaker: str,
    entities: Sequence[str],
    mentions: Sequence[TimeMention],
    said_at: datetime,
) -> Iterator[Statement]:
    """Yield the statements of all asserted clauses.

    Args:
        doc: The parsed turn.
        speaker: The speaker's name.
        entities: Names in the turn.
        mentions: Times in the turn.
        said_at: When it was said.
    """
    for clause in read_clauses(doc):
        moved = rescheduled_event(clause)
        appointment = resolve(moved, speaker) if moved is not None else None
        if (
            appointment is not None
            and appointment.head in EVENT_NOUNS
            and (day := _new_date(clause, said_at)) is not None
        ):
            yield _reschedule_statement(clause, appointment, day)
            continue
        subject = resolve(clause.subject, speaker)
        if subject is None:
            continue
        times = _relevant_mentions(doc, subject, mentions)
        for fact in _read_facts(clause, subject, times):
            if statement := to_statement(clause, subject, fact, times, speaker, entities, said_at):
                yield statement


def _relevant_mentions(
    doc: Doc, subject: Subject, mentions: Sequence[TimeMention]
) -> Sequence[TimeMention]:
    """Drop bare numbers from the times of a clause about a code: "my PIN is 1987" names no year."""
    if subject.head not in DETAIL_NOUNS:
        return mentions
    return [
        mention for mention in mentions if not doc.text[mention.start : mention.stop].isdecimal()
    ]


def _new_date(clause: Clause, said_at: datetime) -> TimeMention | None:
    """Return the future date of a rescheduled event: "they put the exam off until Monday"."""
    text = clause.verb.doc.text
    times = find_times(text, said_at, ahead=True)
    return first_mention(predicate_words(clause), list(current_times(text, times)))


def _reschedule_statement(clause: Clause, appointment: Subject, day: TimeMention) -> Statement:
    """State the new date of a rescheduled event."""
    words = predicate_words(clause)
    start = min(appointment.start, words[0].idx)
    stop = max(appointment.stop, *(token.idx + len(token) for token in words))
    text = sentence(appointment.shown, "is", format_time(day))
    return IS_ON.statement(appointment.key, format_time_bare(day), text, start, stop)


def _read_facts(
    clause: Clause, subject: Subject, mentions: Sequence[TimeMention]
) -> Sequence[Fact]:
    """Read the facts of a clause by the tables of relations, or else by the general rule."""
    if clause.copular:
        return tuple(read_copula(clause, subject, mentions))
    if subject.event:
        return ()
    if subject.head in DETAIL_NOUNS and clause.finite.lemma_ == "be" and not clause.negated:
        code = code_after(clause.finite)  # "is pancake seven seven", parsed as a verb
        if code:
            said = clause.verb.doc[code[0].i : code[-1].i + 1].text
            return (Fact(IS_DETAIL, code, (clause.finite, *code), object=said),)
    return tuple(read_verb(clause, subject, mentions)) or tuple(
        read_general_verb(clause, subject, mentions)
    )
