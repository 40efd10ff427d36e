"""Whom "he" or "she" in a sentence of a summary means, by who was mentioned before it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.third_person import SECOND_PERSON, to_third_person
from hotmem.understanding.lexicon import ELDERS, FEMALE, MALE
from hotmem.understanding.query.entities import PERSON_NOUNS, is_time

REACH: Final = 2
"""Number of turns before a sentence's own in which an antecedent is looked for."""

_EXCLUDED: Final = {
    **dict.fromkeys(wordlist("he him his himself"), FEMALE | {"woman", "lady"}),
    **dict.fromkeys(wordlist("she her hers herself"), MALE | {"man", "guy"}),
}
"""Nouns that a pronoun cannot refer to."""

_MODIFIERS: Final = wordlist("poss det amod compound nmod")
_UNCERTAIN_OWNERS: Final = wordlist("his her its their")


@dataclass(frozen=True, slots=True)
class _Person:
    """A person who was mentioned, and the nouns used."""

    phrase: str
    nouns: frozenset[str]


def find_antecedents(
    sent: Span, turn: int, docs: Sequence[Doc], speakers: Sequence[str]
) -> dict[int, str]:
    """Find what the first "he" or "she" of a sentence refers to.

    Args:
        sent: A sentence.
        turn: Index of its turn.
        docs: The parses of the turns.
        speakers: The speaker of each turn.

    Returns:
        The antecedent by the pronoun's index in its turn; empty if it is in the sentence itself, or
        uncertain.
    """
    pronoun = next((token for token in sent if token.lower_ in _EXCLUDED), None)
    if pronoun is None or any(
        token.pos_ in ("NOUN", "PROPN") and not is_time(token)
        for token in docs[turn][sent.start : pronoun.i]
    ):
        return {}
    earlier = [(docs[turn], range(sent.start), turn)]
    earlier += [
        (docs[place], range(len(docs[place])), place)
        for place in range(turn - 1, max(-1, turn - 1 - REACH), -1)
    ]
    own = {speaker.casefold() for speaker in speakers}
    phrases = {
        person.phrase
        for doc, within, place in earlier
        for person in _people(doc, within, speakers[place], find_listener(speakers, place))
        if not person.nouns & (_EXCLUDED[pronoun.lower_] | own)
    }
    if len({phrase.rpartition(" ")[2] for phrase in phrases}) != 1:
        return {}
    phrase = max(phrases, key=len)
    return {pronoun.i: f"{phrase}'s" if pronoun.dep_ == "poss" else phrase}


def find_listener(speakers: Sequence[str], turn: int) -> str | None:
    """Who is addressed: the only other speaker of a session; None if there are several."""
    others = set(speakers) - {speakers[turn]}
    return others.pop() if len(others) == 1 else None


def _people(
    doc: Doc, within: Collection[int], speaker: str, listener: str | None
) -> Iterator[_Person]:
    """The people mentioned in a part of a turn."""
    for token in doc:
        if token.i not in within or token.pos_ not in ("NOUN", "PROPN"):
            continue
        if token.dep_ in ("compound", "nmod", "appos") and token.head.pos_ in ("NOUN", "PROPN"):
            continue
        words = [*_phrase(token), *(part for part in token.rights if part.dep_ == "appos")]
        nouns = frozenset(word.lower_ for word in words if word.pos_ in ("NOUN", "PROPN"))
        named = token.ent_type_ == "PERSON"
        if token.tag_ in ("NNS", "NNPS") or not (named or nouns & PERSON_NOUNS):
            continue
        owner = words[0].lower_
        if owner in _UNCERTAIN_OWNERS or (owner in SECOND_PERSON and listener is None):
            continue
        yield _Person(_render(words, speaker, listener), nouns)


def _phrase(token: Token) -> list[Token]:
    return [*(word for word in token.lefts if word.dep_ in _MODIFIERS), token]


def _render(words: Sequence[Token], speaker: str, listener: str | None) -> str:
    """A phrase for a person who is known by now: "a nurse" is "the nurse" from then on."""
    kept = [word for word in words if word.dep_ != "det"]
    phrase = to_third_person(kept, speaker, listener=listener)
    owned = kept[0].dep_ == "poss" or kept[0].lower_ in SECOND_PERSON
    if owned or any(word.pos_ == "PROPN" for word in kept):
        return phrase
    return f"{speaker}'s {phrase}" if kept[-1].lower_ in ELDERS else f"the {phrase}"
