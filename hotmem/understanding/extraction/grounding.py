"""Keeps of the facts that a language model proposes what the words of a turn support.

A fact is dropped unless its quote occurs in the turn, states something, and is of the same
polarity; its words, numbers and names must be those of the turn, of the speaker or of a known
subject. It supersedes others only if its relation is in the words too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hotmem.text.numerals import CARDINALS, ORDINALS, numbers
from hotmem.text.stemming import STOP_STEMS, stem, stems
from hotmem.types import Category, Kind, Role, Statement, Turn
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.extraction.proposals import RELATIONS, Proposal, speaker_of
from hotmem.understanding.facts.assertion import (
    VERB_TAGS,
    is_asserted,
    is_hedged,
    is_question,
    is_quoted,
    joke_spans,
)
from hotmem.understanding.facts.corrections import retracted_spans
from hotmem.understanding.facts.relations import Relation
from hotmem.understanding.facts.tags import circumstance_tags, tag_spans, tags_within
from hotmem.understanding.lexicon import ANIMATE
from hotmem.understanding.query.entities import find_entities

UNSTATED: Final = Relation("")
"""Of facts that no relation of the closed set fits."""

NUMERAL_STEMS: Final = frozenset(map(stem, (*CARDINALS, *ORDINALS)))
"""Stems of numerals, which are compared by their values."""

_DENIAL: Final = re.compile(r"\b(?:not|never|no longer|cannot|no)\b|n['’]t\b", re.IGNORECASE)
_CONTRACTED: Final = re.compile(r"n['’]t\b", re.IGNORECASE)
_BESIDE_ONE_WORD: Final = frozenset({"advmod", "intj", "punct"})
_ADJUNCT: Final = frozenset({"relcl", "acl", "xcomp", "conj", "appos", "pcomp", "amod"})
"""Dependencies of verbs that are as true as the clause they belong to."""


class Dropped(StrEnum):
    """Why a proposed fact is dropped."""

    TURN = "no such turn of the user"
    QUOTE = "the quote does not occur in the turn"
    UNSTATED = "the words do not state it"
    POLARITY = "it says the opposite of the words"
    WORDS = "its words are not those of the turn"
    SUBJECT = "unknown subject"
    SENTENCE = "the text does not begin with the subject"


@dataclass(frozen=True, slots=True)
class Grounding:
    """The supported facts by the place of their turn, and why others were dropped."""

    facts: tuple[tuple[int, Statement], ...]
    dropped: tuple[Dropped, ...]


def ground(
    proposals: Sequence[Proposal],
    turns: Sequence[Turn],
    docs: Mapping[int, Doc],
    subjects: Sequence[str],
) -> Grounding:
    """Keep the facts that their turns support.

    Args:
        proposals: The proposed facts.
        turns: The turns that were sent.
        docs: The parses of the user's turns that facts name, by their place in `turns`.
        subjects: Whom and what the user's current facts are about.
    """
    facts: list[tuple[int, Statement]] = []
    dropped: list[Dropped] = []
    known = {subject.casefold(): subject for subject in subjects}
    for proposal in proposals:
        place = proposal.turn - 1
        if not 0 <= place < len(turns) or turns[place].role != Role.USER or place not in docs:
            dropped.append(Dropped.TURN)
            continue
        question = turns[place - 1].text if place and turns[place - 1].role != Role.USER else ""
        found = _statement(proposal, turns[place], docs[place], question, known)
        if isinstance(found, Dropped):
            dropped.append(found)
        else:
            facts.append((place, found))
            known.setdefault(found.subject.casefold(), found.subject)
    return Grounding(tuple(facts), tuple(dropped))


def _statement(
    proposal: Proposal, turn: Turn, doc: Doc, question: str, known: Mapping[str, str]
) -> Statement | Dropped:
    """The statement of a proposal, or why it is dropped."""
    span = _find(proposal.quote, turn.text)
    if span is None:
        return Dropped.QUOTE
    start, stop = span
    words = doc.char_span(start, stop, alignment_mode="expand")
    if words is None or not _is_stated(words, turn.text):
        return Dropped.UNSTATED
    speaker = speaker_of(turn)
    subject = _subject(proposal.subject, speaker, turn.text, known)
    if subject is None or not _may_be_about(words, subject, f"{speaker} {turn.text}", speaker):
        return Dropped.SUBJECT
    text = _sentence(proposal, subject)
    if text is None:
        return Dropped.SENTENCE
    said = f"{turn.text} {subject}"
    relation = RELATIONS.get(proposal.relation, UNSTATED)
    if relation is not UNSTATED and not proposal.value:
        return Dropped.WORDS
    if not _is_supported(proposal.value, turn.text) or not _is_supported(
        text, f"{said} {relation.name}"
    ):
        return Dropped.WORDS
    negated = proposal.negated or _DENIAL.search(text) is not None
    if negated != _is_denied(words, text):
        return Dropped.POLARITY
    value = proposal.value if relation is not UNSTATED else text
    relation_said = stems(relation.name) - STOP_STEMS <= stems(f"{said} {question}")
    return Statement(
        text=text,
        subject=subject,
        relation=relation.name,
        object=value,
        kind=relation.kind,
        category=relation.category,
        importance=relation.importance,
        start=start,
        stop=stop,
        entities=_entities(doc, f"{subject} {value}"),
        hedged=proposal.uncertain or any(map(is_hedged, _verbs(words))),
        negated=negated,
        changes=relation.changes,
        single=relation.single,
        tags=tags_within(tag_spans(doc), start, stop, text),
        circumstances=circumstance_tags(turn.text[start:stop]),
        replaces=relation_said and relation is not UNSTATED,
    )


def without_instructions(statement: Statement, classified: Statement) -> Statement | None:
    """The classified statement; None if it reads as an instruction, which a model may not give."""
    instructs = classified.kind is Kind.RULE or classified.category is Category.SYSTEM
    return None if instructs and statement.relation == UNSTATED.name else classified


def _find(quote: str, text: str) -> tuple[int, int] | None:
    """The span of a quote in a text, as whole words, in any case."""
    if not any(map(str.isalnum, quote)):
        return None
    words = r"\s+".join(map(re.escape, quote.split()))
    match = re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)
    return None if match is None else match.span()


def _is_stated(words: Span, text: str) -> bool:
    """Whether the words state something: no question, condition, quotation, joke or command."""
    unsaid = (*joke_spans(text), *retracted_spans(text))
    if any(start <= words.start_char < stop for start, stop in unsaid):
        return False
    verbs = list(_verbs(words))
    if not verbs:
        sentence = words[-1].sent
        return not sentence.text.rstrip().endswith("?")
    return any(_asserts(verb) for verb in verbs)


def _asserts(verb: Token) -> bool:
    if is_quoted(verb):
        return False
    subject = next((child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")), None)
    if is_question(verb, subject):
        return False
    if verb.dep_ == "ROOT" and verb.tag_ == "VB" and subject is None:
        # A command; not a single word that answers a question, "Just shellfish", nor "will do it".
        depend = {child.dep_ for child in verb.children}
        return "aux" in depend or depend <= _BESIDE_ONE_WORD
    if is_asserted(verb):
        return True
    if verb.dep_ not in _ADJUNCT:
        return False
    head = next((one for one in verb.ancestors if one.pos_ in VERB_TAGS), None)
    return head is None or _asserts(head)


def _verbs(words: Span) -> Iterator[Token]:
    """The verbs of the words; an auxiliary counts only as the head of its clause."""
    return (
        token for token in words if token.pos_ in VERB_TAGS and token.dep_ not in ("aux", "auxpass")
    )


def _is_denied(words: Span, text: str) -> bool:
    """Whether the words deny what the text says: "I don't live in Denver", not "can't stand"."""
    held = stems(text) - STOP_STEMS
    for denial in (token for token in words.doc if token.dep_ == "neg" or token.lower_ == "no"):
        head = denial.head
        if denial not in words and head not in words:
            continue
        denied = [head, *(head.children if head.lemma_ in ("be", "have") else ())]
        if any(stems(token.text) & held for token in denied):
            return True
    return False


def _subject(proposed: str, speaker: str, text: str, known: Mapping[str, str]) -> str | None:
    """The subject as it is stored; None if neither the turn nor the memory knows it."""
    folded = proposed.casefold()
    if not folded:
        return None
    if folded in (speaker.casefold(), "i", "user", "the user", "speaker"):
        return speaker
    if folded in known:
        return known[folded]
    return proposed if _is_supported(proposed, f"{speaker} {text}") else None


def _may_be_about(words: Span, subject: str, said: str, speaker: str) -> bool:
    """Whether the words may be about a subject: "my sister loves it" is not about the speaker.

    A subject that the turn does not name needs a pronoun of the third person.
    """
    if not _is_supported(subject, said):
        return any(_person(token) == "3" for token in words)
    agents = [
        child
        for verb in _verbs(words)
        for child in verb.children
        if child.dep_ in ("nsubj", "nsubjpass")
    ]
    if subject != speaker or not agents:
        return True
    return not all(_is_other(agent, speaker) for agent in agents)


def _is_other(agent: Token, speaker: str) -> bool:
    """Whether the subject of a clause is certainly not the speaker."""
    if agent.pos_ == "PRON":
        return _person(agent) == "3" and agent.morph.get("Gender", []) != ["Neut"]
    if agent.pos_ == "PROPN":
        return not _is_supported(agent.text, speaker)
    return agent.lemma_.casefold() in ANIMATE


def _person(token: Token) -> str:
    return "".join(token.morph.get("Person", [])) if token.pos_ == "PRON" else ""


def _sentence(proposal: Proposal, subject: str) -> str | None:
    """The text of a fact, which begins with its subject; None if it is not such a sentence."""
    text = proposal.text or f"{subject} {proposal.relation} {proposal.value}"
    begins = next(
        (
            one
            for one in (subject, proposal.subject)
            if one and re.match(rf"{re.escape(one)}(?!\w)", text, re.IGNORECASE)
        ),
        None,
    )
    if begins is None:
        return None
    text = subject + text[len(begins) :]
    return text if text.endswith((".", "!")) else f"{text}."


def _is_supported(text: str, said: str) -> bool:
    """Whether all words, names and numbers of a text were said."""
    words = stems(_CONTRACTED.sub(" ", text))
    content = {one for one in words - STOP_STEMS - NUMERAL_STEMS if not one.isdigit()}
    return content <= stems(said) and numbers(text) <= numbers(said)


def _entities(doc: Doc, text: str) -> tuple[str, ...]:
    """The names of the turn that a text holds, as the turn writes them."""
    held = stems(text)
    return tuple(name for name in find_entities(doc) if stems(name) <= held)
