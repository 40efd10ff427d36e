"""What an ambiguous utterance may stand for.

What the conversation is centred on, as it was last named.

Each turn has a centre. A pronoun of the next turn takes it up and so carries it on; a turn that
points nowhere replaces it by its own most prominent noun (centering theory: Grosz, Joshi and
Weinstein 1995).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Self

from hotmem.text.stemming import terms
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Doc, Token
from hotmem.understanding.query.ambiguity import (
    FRAGMENTS,
    PLACES,
    PLURALS,
    PRONOUNS,
    SINGULAR_PEOPLE,
    WEATHER_TOPICS,
    find_ambiguous,
    is_pleonastic,
)
from hotmem.understanding.query.intent import is_question
from hotmem.understanding.query.mentions import (
    MAX_TOKENS,
    Mention,
    MentionType,
    find_mentions,
    is_place,
    is_time,
)

MAX_TURNS: Final = 10
"""Recent turns looked at (the design's number)."""

MAX_PHRASES: Final = 3
"""Phrases an utterance is expanded by."""

_FUTURE_WORDS: Final = wordlist("will going 'll ’ll")


def expand(doc: Doc, ambiguous: Sequence[str], recent: Sequence[Doc]) -> tuple[str, ...]:
    """Words from the recent turns that an utterance leaves unsaid.

    Args:
        doc: The utterance.
        ambiguous: Its words that point elsewhere, from `find_ambiguous`.
        recent: The turns before it, oldest first; the last `MAX_TURNS` are used.

    Returns:
        At most `MAX_PHRASES` phrases, the likeliest first; empty when nothing fits or nothing is
        left unsaid.
    """
    if not needs_context(doc, ambiguous):
        return ()
    talk = _Discourse()
    for turn in recent[-MAX_TURNS:]:
        talk.hear(turn)
    return talk.unsaid(doc, ambiguous)[:MAX_PHRASES]


def needs_context(doc: Doc, ambiguous: Sequence[str]) -> bool:
    """Whether an utterance needs the turns before it.

    It points elsewhere, or asks for what has a place and a time.
    """
    return bool(ambiguous) or _asks_about_future(doc)


def _asks_about_future(doc: Doc) -> bool:
    """Whether an utterance asks for the weather or for what will be."""
    words = (
        token.lemma_.lower() in WEATHER_TOPICS
        or token.lower_ in _FUTURE_WORDS
        or is_pleonastic(token)
        for token in doc
    )
    return (is_question(doc) or len(doc) < 4) and any(words)


@dataclass(frozen=True, slots=True)
class _Content:
    """What an utterance says itself.

    Its stems, whether a place and a time are among them, and whether it is no whole sentence.
    """

    words: frozenset[str]
    placed: bool
    timed: bool
    fragment: bool

    @classmethod
    def by(cls, doc: Doc, ambiguous: Sequence[str]) -> Self:
        return cls(
            words=frozenset(
                stem for token in doc if not token.is_stop for stem in terms(token.text)
            ),
            placed=any(is_place(token) for token in doc) or bool(PLACES.intersection(ambiguous)),
            timed=any(is_time(token) and not _is_demonstrative(token) for token in doc),
            fragment=bool(ambiguous)
            and all(word in FRAGMENTS for phrase in ambiguous for word in phrase.split()),
        )


@dataclass(slots=True)
class _Discourse:
    """A conversation as it was heard so far.

    All that was spoken of, its centres, the latest last, and the content of the last question.
    """

    spoken_of: list[Mention] = field(default_factory=list)
    centres: list[Mention] = field(default_factory=list)
    asked: str = ""

    def hear(self, turn: Doc) -> None:
        """Takes in one more turn."""
        ambiguous, found = read_turn(turn)
        meant = self._antecedent(_Content.by(turn, ambiguous), ambiguous) if ambiguous else None
        for mention in found:
            self._remember(mention)
        if len(turn) > MAX_TOKENS and self.centres:
            return
        main = max(reversed(found), key=lambda mention: mention.weight, default=None)
        if main is not None and main.type is not MentionType.TIME and not main.relational:
            self._centre(main)
        if meant is not None:
            self._centre(meant)
        if is_question(turn) and any(token.pos_ in ("VERB", "AUX") for token in turn):
            self.asked = " ".join(
                token.text
                for token in turn
                if token.is_alpha and not (token.is_stop or is_time(token) or is_place(token))
            )

    def unsaid(self, doc: Doc, ambiguous: Sequence[str]) -> tuple[str, ...]:
        """What an utterance that points elsewhere means, and the place and the time it lacks."""
        said = _Content.by(doc, ambiguous)
        setting = tuple(mention.phrase for mention in self._setting(doc, said, ambiguous))
        if said.fragment and (said.timed or said.placed) and self.asked:
            return (self.asked, *setting)
        if not ambiguous or (setting and not PRONOUNS.intersection(ambiguous)):
            return setting
        meant = self._antecedent(said, ambiguous)
        return tuple(dict.fromkeys((meant.phrase, *setting))) if meant else setting

    def _antecedent(self, said: _Content, ambiguous: Sequence[str]) -> Mention | None:
        """The fuller name of what is named in short ("the expedition"), else the latest centre, then mention that agrees, else any centre."""
        short = {stem for phrase in ambiguous for stem in terms(phrase)}
        new = [
            mention
            for mention in reversed(self.spoken_of)
            if mention.words - said.words and mention.type is not MentionType.TIME
        ]
        for mention in new:
            if mention.head in short:
                return mention
        centres = [mention for mention in reversed(self.centres) if mention.words - said.words]
        for mention in (*centres, *new):
            if mention.relational:
                continue
            if said.fragment and mention.words & said.words:
                return None
            if _agrees(mention, ambiguous):
                return mention
        return centres[0] if centres and not SINGULAR_PEOPLE.intersection(ambiguous) else None

    def _setting(self, doc: Doc, said: _Content, ambiguous: Sequence[str]) -> list[Mention]:
        """The place and the time last spoken of, if needed and lacking.

        Weather and what lies ahead need both, what exists needs a place.
        """
        ahead = _asks_about_future(doc)
        moved = said.fragment and (said.timed or said.placed)
        needed = []
        if not said.placed and (ahead or moved or "any" in ambiguous):
            needed.append(MentionType.PLACE)
        if not said.timed and (ahead or moved):
            needed.append(MentionType.TIME)
        latest = (
            next((mention for mention in reversed(self.spoken_of) if mention.type is sort), None)
            for sort in needed
        )
        return [mention for mention in latest if mention is not None and mention.words - said.words]

    def _remember(self, mention: Mention) -> None:
        """Adds a mention; of two that say the same the fuller is kept."""
        for place, earlier in enumerate(self.spoken_of):
            if earlier.head == mention.head and (
                earlier.words <= mention.words or mention.words <= earlier.words
            ):
                del self.spoken_of[place]
                mention = max(earlier, mention, key=lambda one: len(one.words))
                break
        self.spoken_of.append(mention)

    def _centre(self, mention: Mention) -> None:
        fuller = next(
            (
                one
                for one in self.spoken_of
                if one.head == mention.head and mention.words <= one.words
            ),
            mention,
        )
        self.centres = [*(one for one in self.centres if one.words != fuller.words), fuller]


@lru_cache(maxsize=64)
def read_turn(turn: Doc) -> tuple[tuple[str, ...], tuple[Mention, ...]]:
    """What a turn leaves open and what it speaks of; every later turn of its session asks again."""
    return find_ambiguous(turn) if len(turn) <= MAX_TOKENS else (), tuple(find_mentions(turn))


def _is_demonstrative(token: Token) -> bool:
    """Whether a time is not named, but pointed at: "that day"."""
    return any(child.lower_ in ("that", "those") for child in token.children)


def _agrees(mention: Mention, ambiguous: Iterable[str]) -> bool:
    """Whether a mention is of the sort and number that at least one of the ambiguous words asks for."""
    for word in ambiguous:
        if word in SINGULAR_PEOPLE:
            if not mention.plural and (
                mention.type in (MentionType.PERSON, MentionType.ANIMAL)
                or (mention.named and mention.type is not MentionType.PLACE)
            ):
                return True
        elif word in PLACES:
            if mention.type is MentionType.PLACE or mention.named:
                return True
        elif word in PLURALS:
            if mention.plural:
                return True
        elif word in ("it", "its", "itself"):
            if mention.type is not MentionType.PERSON and not mention.plural:
                return True
        elif mention.type is not MentionType.PERSON:
            return True
    return False
