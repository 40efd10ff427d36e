"""A turn with a pronoun in the place of a name that it repeats.

The reader takes a repeated name for a sign of change: "my aunt Berta lives in Graz" would put "my
aunt Berta has a parrot" in doubt. Whether a turn changes something does not depend on how it names
its subject, so a doubt has to stand with "she" in the place of the name.
"""

from collections.abc import Callable, Iterator
from typing import Final

from hotmem.models.reader import Effects, Reader
from hotmem.types.parse import Doc, Token
from hotmem.understanding.animate_nouns import ANIMATE, FEMALE, MALE
from hotmem.understanding.named_subjects import SUBJECTS, noun_phrase, subject_words

UNNAMED_DOUBT: Final = 0.42
"""Probability that has to remain with a pronoun in the place of the name.

On the pairs that the reader was trained on and the half for tuning of
`eval/data/understanding/doubts`, 13 of 33 changes that the limit with the name, 0.49, would lose
stay in doubt, and none of 5 other facts.
"""


def confirmed_effects(
    reader: Reader, known: str, subject: str, text: str, parse: Callable[[], Doc]
) -> Effects:
    """Return what a turn does to a statement; what it doubts must be in doubt without a name too.

    Args:
        reader: The reader.
        known: The statement, in the third person.
        subject: The subject of the statement.
        text: The turn.
        parse: Parses the turn; called only if the statement is in doubt.
    """
    effects = reader.effects(known, text)
    if effects.doubted < reader.settings.doubted:
        return effects
    forms = (reader.effects(known, form) for form in pronoun_forms(parse(), subject))
    unnamed = max(forms, key=lambda one: one.doubted, default=effects)
    return unnamed if unnamed.doubted < UNNAMED_DOUBT else effects


def pronoun_forms(doc: Doc, subject: str) -> tuple[str, ...]:
    """Return a turn with a pronoun for each name of whom or what a statement is about.

    Two forms, with "she" and with "he", where it is not known which is right; none if the turn's
    subjects do not name the subject of the statement. "My wife" names nobody.

    Args:
        doc: The parsed turn.
        subject: The subject of the statement.
    """
    known = subject_words(subject)
    spans = [(phrase[0], phrase[-1], _pronouns(phrase, known)) for phrase in _named(doc, known)]
    forms = zip(*(pronouns for _, _, pronouns in spans), strict=True) if spans else ()
    return tuple(
        dict.fromkeys(_replaced(doc, [span[:2] for span in spans], form) for form in forms)
    )


def _named(doc: Doc, known: frozenset[str]) -> Iterator[list[Token]]:
    """Yield the phrases of a turn's subjects with a name that the subject of a statement has."""
    stop = 0
    for token in doc:
        if token.dep_ not in SUBJECTS or token.pos_ == "PRON":
            continue
        phrase = noun_phrase(token)
        names = {
            word.lower_
            for word in phrase
            if word.pos_ == "PROPN" and word.dep_ != "poss" and word.lower_ not in ANIMATE
        }
        if names & known and phrase[0].i >= stop:
            stop = phrase[-1].i + 1
            yield phrase


def _pronouns(phrase: list[Token], known: frozenset[str]) -> tuple[str, str]:
    """Return the pronouns that may stand for a phrase."""
    words = known.union(word.lower_ for word in phrase)
    if words & FEMALE:
        return "she", "she"
    if words & MALE:
        return "he", "he"
    if phrase[-1].tag_ == "NNPS":
        return "they", "they"
    return "she", "he"


def _replaced(doc: Doc, spans: list[tuple[Token, Token]], pronouns: tuple[str, ...]) -> str:
    text, parts, last = doc.text, list[str](), 0
    for (first, final), pronoun in zip(spans, pronouns, strict=True):
        begins = first.is_sent_start and first.text[:1].isupper()
        parts += [text[last : first.idx], pronoun.capitalize() if begins else pronoun]
        last = final.idx + len(final)
    return "".join((*parts, text[last:]))
