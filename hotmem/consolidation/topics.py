"""Topics of a session: names and noun phrases, by how often they are mentioned."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hotmem.text.stemming import terms
from hotmem.text.word_sets import wordlist
from hotmem.types import Role, Topic, Turn
from hotmem.types.parse import Doc
from hotmem.understanding.facts.tags import is_interjection
from hotmem.understanding.query.entities import find_entities

MAX_TOPICS: Final = 6
MAX_COUNTED_TOPICS: Final = 1_000
"""Maximum number of topics whose weights are stored."""

NAME_BONUS: Final = 1.5
"""Weight of a name relative to a noun phrase."""

ROLE_WEIGHTS: Final = {Role.USER: 1.0, Role.ASSISTANT: 0.6}
"""Weights of turns by the role of their speaker."""

GENERIC_WORDS: Final = wordlist(
    "thing thank thanks time way lot bit day today week year month kind sort one something "
    "anything everything nothing someone anyone "
    "everyone people guy idea stuff fun hey yeah yes wow haha morning night evening weekend "
    "moment question problem course sure "
    "hope life world part hour minute tomorrow yesterday other first next"
)


def count_topics(
    spoken: Iterable[tuple[Turn, Doc]], before: Mapping[str, Topic] = MappingProxyType({})
) -> dict[str, Topic]:
    """Count names and noun phrases by turn; mentions by the user count more.

    Args:
        spoken: Turns with their parses.
        before: Counts of the session's other turns.

    Returns:
        The topics of highest weight, at most `MAX_COUNTED_TOPICS`, by their stems.
    """
    spoken = list(spoken)
    weight = {name: topic.weight for name, topic in before.items()}
    written = {name: topic.written for name, topic in before.items()}
    speakers = {(turn.speaker or "").casefold() for turn, _ in spoken}
    for turn, doc in spoken:
        names = {
            _key(name): name
            for name in find_entities(doc)
            if name.casefold() not in speakers and not is_interjection(name)
        }
        phrases = {
            _key(phrase): phrase
            for phrase in _noun_phrases(doc)
            if phrase.casefold() not in speakers and not is_interjection(phrase)
        }
        for key, phrase in (phrases | names).items():
            written.setdefault(key, phrase)
            weight[key] = weight.get(key, 0.0) + ROLE_WEIGHTS[Role(turn.role)] * (
                NAME_BONUS if key in names else 1.0
            )
    best = sorted(weight, key=lambda key: -weight[key])[:MAX_COUNTED_TOPICS]
    return {key: Topic(written[key], weight[key]) for key in best}


def _key(phrase: str) -> str:
    """The stems of a phrase, so that "red kayak" and "red kayaks" are one topic."""
    return " ".join(terms(phrase)) or phrase.casefold()


def top_topics(counted: Mapping[str, Topic]) -> tuple[str, ...]:
    """The topics of highest weight that share no word with each other."""
    kept: list[str] = []
    for key, _ in sorted(
        counted.items(), key=lambda item: (-item[1].weight, -len(item[0].split()))
    ):
        if not any(set(key.split()) & set(other.split()) for other in kept):
            kept.append(key)
        if len(kept) == MAX_TOPICS:
            break
    return tuple(counted[key].written for key in kept)


def _noun_phrases(doc: Doc) -> Iterator[str]:
    """Noun phrases of a parse, at most two words, without determiners and stop words."""
    for chunk in doc.noun_chunks:
        words = [
            token
            for token in chunk
            if token.pos_ in ("NOUN", "PROPN", "ADJ") and not token.is_stop and token.is_alpha
        ]
        if (
            not words
            or words[-1] != chunk.root
            or words[-1].lemma_.lower() in GENERIC_WORDS
            or words[-1].ent_type_ in ("DATE", "TIME")
        ):
            continue
        words = words[-2:] if words[0].pos_ != "ADJ" else words[-1:]
        yield " ".join(token.text if token.pos_ == "PROPN" else token.lower_ for token in words)
