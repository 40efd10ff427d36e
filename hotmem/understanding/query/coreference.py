"""Coreference resolution: phrases from recent turns that ambiguous words may refer to.

Each turn has a center. A pronoun of the next turn continues it; a turn without ambiguous words
shifts it to its own most salient noun (centering theory: Grosz, Joshi and Weinstein 1995).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Self

from hotmem.text.stemming import terms
from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Doc, Token
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
from hotmem.understanding.query.antecedents import (
    AntecedentModel,
    Candidates,
    Question,
    RecentTurn,
    choose,
    has_only_asked,
    is_elliptical,
)
from hotmem.understanding.query.cues import is_question
from hotmem.understanding.query.entities import (
    MAX_TOKENS,
    Mention,
    MentionType,
    content_stems,
    find_mentions,
    is_place,
    is_time,
)

MAX_TURNS: Final = 10
"""Number of recent turns considered."""

MAX_PHRASES: Final = 4
"""Maximum number of phrases in an expansion."""

_FUTURE_WORDS: Final = wordlist("will going 'll ’ll")


def expand(doc: Doc, ambiguous: Sequence[str], recent: Sequence[RecentTurn]) -> tuple[str, ...]:
    """Find phrases in recent turns that an utterance refers to or presupposes.

    Where the user has only asked so far, the rules of this module follow the topic from question to
    question; where they have told something, or the question is elliptical or about a list, a
    model trained on dialogues chooses.

    Args:
        doc: The utterance.
        ambiguous: Its ambiguous words, from `find_ambiguous`.
        recent: The turns before it, oldest first; the last `MAX_TURNS` are used.

    Returns:
        At most `MAX_PHRASES` phrases, most likely first; empty if none agrees or none is needed.
    """
    turns = recent[-MAX_TURNS:]
    question = Question.of(doc, ambiguous)
    if not needs_context(doc, ambiguous):
        return ()
    if _follows_topic(question, turns):
        return resolve_by_rules(doc, ambiguous, [turn.doc for turn in turns])
    candidates = Candidates.of(question, turns)
    probabilities = AntecedentModel.load().probabilities(candidates)
    return choose(candidates, probabilities, MAX_PHRASES)


def resolve_by_rules(doc: Doc, ambiguous: Sequence[str], recent: Sequence[Doc]) -> tuple[str, ...]:
    """Find the phrases by rules alone; arguments and result as of `expand`."""
    discourse = _Discourse()
    for turn in recent[-MAX_TURNS:]:
        discourse.add(turn)
    return discourse.resolve(doc, ambiguous)[:MAX_PHRASES]


def _follows_topic(question: Question, turns: Sequence[RecentTurn]) -> bool:
    """Whether a question continues the topic of the user's questions, who has told nothing."""
    doc = question.doc
    if any(token.lemma_.lower() in WEATHER_TOPICS for token in doc):
        return True
    if question.elliptical and any(map(is_time, doc)):
        return True
    answered = any(not turn.by_user for turn in turns)
    listed = question.ordinal is not None or question.other
    return has_only_asked(turns) and not ((question.elliptical and answered) or listed)


def needs_context(doc: Doc, ambiguous: Sequence[str]) -> bool:
    """Whether an utterance needs recent turns.

    It does for a reference, for a place and a time, and for what an ellipsis leaves out.
    """
    return bool(ambiguous) or _asks_about_future(doc) or is_elliptical(doc)


def _asks_about_future(doc: Doc) -> bool:
    """Whether an utterance asks about the weather or the future."""
    words = (
        token.lemma_.lower() in WEATHER_TOPICS
        or token.lower_ in _FUTURE_WORDS
        or is_pleonastic(token)
        for token in doc
    )
    return (is_question(doc) or len(doc) < 4) and any(words)


@dataclass(frozen=True, slots=True)
class _Content:
    """What an utterance itself expresses.

    Attributes:
        words: Stems of its content words.
        placed: Whether it mentions a place.
        timed: Whether it mentions a time.
        fragment: Whether it is not a full sentence.
    """

    words: frozenset[str]
    placed: bool
    timed: bool
    fragment: bool

    @classmethod
    def of(cls, doc: Doc, ambiguous: Sequence[str]) -> Self:
        return cls(
            words=content_stems(doc),
            placed=any(is_place(token) for token in doc) or bool(PLACES.intersection(ambiguous)),
            timed=any(is_time(token) and not _is_demonstrative(token) for token in doc),
            fragment=bool(ambiguous)
            and all(word in FRAGMENTS for phrase in ambiguous for word in phrase.split()),
        )


@dataclass(slots=True)
class _Discourse:
    """The discourse so far.

    Attributes:
        mentions: Everything mentioned, latest last.
        centers: The centers of turns, latest last.
        question: Content words of the last question.
    """

    mentions: list[Mention] = field(default_factory=list)
    centers: list[Mention] = field(default_factory=list)
    question: str = ""

    def add(self, turn: Doc) -> None:
        """Add a turn."""
        ambiguous, found = read_turn(turn)
        antecedent = (
            self._antecedent(_Content.of(turn, ambiguous), ambiguous) if ambiguous else None
        )
        for mention in found:
            self._add_mention(mention)
        if len(turn) > MAX_TOKENS and self.centers:
            return
        main = max(reversed(found), key=lambda mention: mention.weight, default=None)
        if main is not None and main.type is not MentionType.TIME and not main.relational:
            self._set_center(main)
        if antecedent is not None:
            self._set_center(antecedent)
        if is_question(turn) and any(token.pos_ in ("VERB", "AUX") for token in turn):
            self.question = " ".join(
                token.text
                for token in turn
                if token.is_alpha and not (token.is_stop or is_time(token) or is_place(token))
            )

    def resolve(self, doc: Doc, ambiguous: Sequence[str]) -> tuple[str, ...]:
        """The antecedent of an utterance's ambiguous words, and a missing place and time."""
        content = _Content.of(doc, ambiguous)
        setting = tuple(mention.phrase for mention in self._setting(doc, content, ambiguous))
        if content.fragment and (content.timed or content.placed) and self.question:
            return (self.question, *setting)
        if not ambiguous or (setting and not PRONOUNS.intersection(ambiguous)):
            return setting
        antecedent = self._antecedent(content, ambiguous)
        return tuple(dict.fromkeys((antecedent.phrase, *setting))) if antecedent else setting

    def _antecedent(self, content: _Content, ambiguous: Sequence[str]) -> Mention | None:
        """The mention that ambiguous words refer to, if any.

        That is the full form of a noun among them ("the expedition"), else the latest center or
        else mention that agrees with them, else the latest center.
        """
        short = {stem for phrase in ambiguous for stem in terms(phrase)}
        new = [
            mention
            for mention in reversed(self.mentions)
            if mention.words - content.words and mention.type is not MentionType.TIME
        ]
        for mention in new:
            if mention.head in short:
                return mention
        centers = [mention for mention in reversed(self.centers) if mention.words - content.words]
        for mention in (*centers, *new):
            if mention.relational:
                continue
            if content.fragment and mention.words & content.words:
                return None
            if _agrees(mention, ambiguous):
                return mention
        return centers[0] if centers and not SINGULAR_PEOPLE.intersection(ambiguous) else None

    def _setting(self, doc: Doc, content: _Content, ambiguous: Sequence[str]) -> list[Mention]:
        """The last mentioned place and time, as far as the utterance lacks and needs them.

        Questions about weather and the future need both, questions for existence need a place.
        """
        ahead = _asks_about_future(doc)
        moved = content.fragment and (content.timed or content.placed)
        needed = []
        if not content.placed and (ahead or moved or "any" in ambiguous):
            needed.append(MentionType.PLACE)
        if not content.timed and (ahead or moved):
            needed.append(MentionType.TIME)
        latest = (
            next((mention for mention in reversed(self.mentions) if mention.type is wanted), None)
            for wanted in needed
        )
        return [
            mention for mention in latest if mention is not None and mention.words - content.words
        ]

    def _add_mention(self, mention: Mention) -> None:
        """Add a mention; of two with the same head and included words, the longer is kept."""
        for place, earlier in enumerate(self.mentions):
            if earlier.head == mention.head and (
                earlier.words <= mention.words or mention.words <= earlier.words
            ):
                del self.mentions[place]
                mention = max(earlier, mention, key=lambda one: len(one.words))
                break
        self.mentions.append(mention)

    def _set_center(self, mention: Mention) -> None:
        fuller = next(
            (
                one
                for one in self.mentions
                if one.head == mention.head and mention.words <= one.words
            ),
            mention,
        )
        self.centers = [*(one for one in self.centers if one.words != fuller.words), fuller]


@lru_cache(maxsize=64)
def read_turn(turn: Doc) -> tuple[tuple[str, ...], tuple[Mention, ...]]:
    """The ambiguous words and the mentions of a turn. Cached, as later turns read it again."""
    return find_ambiguous(turn) if len(turn) <= MAX_TOKENS else (), tuple(find_mentions(turn))


def _is_demonstrative(token: Token) -> bool:
    """Whether a time expression is demonstrative: "that day"."""
    return any(child.lower_ in ("that", "those") for child in token.children)


def _agrees(mention: Mention, ambiguous: Iterable[str]) -> bool:
    """Whether a mention agrees in type and number with any of the ambiguous words."""
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
