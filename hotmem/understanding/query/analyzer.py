"""Analysis of an utterance, one line per part."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hotmem.temporal import find_interval
from hotmem.text.names import normalize_name
from hotmem.text.stemming import words
from hotmem.text.word_sets import FUNCTION_WORDS, wordlist
from hotmem.types import Analysis, Complexity, Intent, Layer, Vector
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.query.ambiguity import find_ambiguous
from hotmem.understanding.query.cues import (
    MIN_NEED,
    find_complexity,
    find_intent,
    is_question,
    need,
)
from hotmem.understanding.query.entities import find_entities

_KEPT_STOP_WORDS: Final = frozenset(
    {"name", "names", "call", "called", "move", "moved", "show", "amount"}
)
"""spaCy stop words that are useful search terms."""

FIRST_PERSON: Final = wordlist("i me my mine myself we us our ours")

_NO_SUBJECTS: Final = wordlist("kind type sort name thing way time number day one lot bit")
"""Nouns that say nothing of what a question is about."""

FUTURE_WORDS: Final = wordlist("will 'll ’ll upcoming plan plans planning planned tomorrow")
"""Words that refer to the future."""


def analyse(
    doc: Doc,
    at: datetime,
    known: Sequence[str] = (),
    misheard: Sequence[str] = (),
    vector: Vector | None = None,
) -> Analysis:
    """Analyse an utterance alone; `expand` resolves its references.

    Args:
        doc: The parsed utterance.
        at: When it was said; relative times are resolved against it.
        known: Stored names, which are recognised in any letter case.
        misheard: Stored names that stand as other words in it.
        vector: Its embedding, a unit row, if the encoder is the one that ships. Without it memory
            is needed unless there are only courtesies; a stored name always needs memory.
    """
    time = find_interval(doc.text, at, ahead=_asks_ahead(doc))
    intent = find_intent(doc, timed=time is not None)
    misheard_words = (word for name in misheard for word in normalize_name(name).split())
    entities = tuple(dict.fromkeys((*find_entities(doc, known), *misheard)))
    ambiguous = () if intent is Intent.CHITCHAT else find_ambiguous(doc)
    names = {name.casefold() for name in (*known, *misheard)}
    named = any(name.casefold() in names for name in entities)
    asked = vector is None or named or need(doc.text, vector) >= MIN_NEED
    needed = intent is not Intent.CHITCHAT and asked
    complexity = find_complexity(
        doc, intent, entities=len(entities), timed=time is not None, ambiguous=bool(ambiguous)
    )
    return Analysis(
        intent=intent,
        complexity=complexity,
        terms=tuple(dict.fromkeys((*content_terms(doc), *misheard_words))),
        entities=entities,
        time=time,
        ambiguous=ambiguous,
        expansion=(),
        first_person=any(token.lower_ in FIRST_PERSON for token in doc),
        needs_memory=needed,
        layers=tuple(Layer) if needed else (),
        question=is_question(doc),
        subjects=_subjects(doc),
    )


def content_terms(doc: Doc) -> tuple[str, ...]:
    """The content words of an utterance, lower case, in order, without duplicates.

    Numbers and names are included, stop words are not.
    """
    words = (
        token.lower_
        for token in doc
        if any(map(str.isalnum, token.text))
        and (not token.is_stop or token.like_num or token.lower_ in _KEPT_STOP_WORDS)
    )
    return tuple(dict.fromkeys(words))


def _subjects(doc: Doc) -> tuple[str, ...]:
    nouns = (t.text for t in doc if t.pos_ in ("NOUN", "PROPN") and t.lower_ not in _NO_SUBJECTS)
    return tuple(dict.fromkeys(nouns))


def _asks_ahead(doc: Doc) -> bool:
    """Whether an utterance refers to the future, as a question without a verb does.

    "Anything on Friday?" asks what is on.
    """
    return refers_to_future(doc) or (
        is_question(doc) and not any(token.pos_ in ("VERB", "AUX") for token in doc)
    )


def refers_to_future(words: Doc | Span) -> bool:
    """Whether an utterance or sentence refers to the future.

    It does with "will" and similar words, or with a present tense and no past tense.
    """
    tags = {token.tag_ for token in words if not _is_have_got(token)}
    if {token.lower_ for token in words} & FUTURE_WORDS:
        return True
    return not tags & {"VBD", "VBN"} and bool(tags & {"VBZ", "VBP", "VBG", "VB"})


def _is_have_got(token: Token) -> bool:
    """Whether a word is the "got" of "have got", which is present."""
    return token.lower_ == "got" and any(
        child.dep_ in ("aux", "auxpass") and child.tag_ in ("VBP", "VBZ")
        for child in token.children
    )


QUESTION_MARKS: Final = ("?", "？", "؟", ";", "か。")
"""Ends of questions: also the full-width, Arabic and Greek question marks, and Japanese "か"."""


def analyse_other_language(text: str, language: str) -> Analysis:
    """Analyse an utterance that is not English.

    Its words without function words are searched for. Times, names and references are not read, and
    memory is searched whatever is said, as long as there is a word to search for.

    Args:
        text: The utterance.
        language: Its language, as `detect_language` returns it.
    """
    said = dict.fromkeys(words(text))
    function_words = FUNCTION_WORDS.get(language, frozenset())
    content = tuple(word for word in said if word not in function_words)
    return Analysis(
        intent=Intent.FACT,
        complexity=Complexity.MEDIUM,
        terms=content or tuple(said),
        entities=(),
        time=None,
        ambiguous=(),
        expansion=(),
        first_person=False,
        needs_memory=bool(content),
        layers=tuple(Layer) if content else (),
        question=text.rstrip().endswith(QUESTION_MARKS),
        language=language,
    )
