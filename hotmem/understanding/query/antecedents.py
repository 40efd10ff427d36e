"""Possible antecedents of a question's ambiguous words: what was mentioned in recent turns."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import Final, Self

from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.lexicon import FEMALE, MALE
from hotmem.understanding.query.ambiguity import PLURALS, SINGULAR_PEOPLE
from hotmem.understanding.query.cues import is_question
from hotmem.understanding.query.entities import (
    MAX_TOKENS,
    Mention,
    MentionType,
    content_stems,
    find_heads,
    make_mention,
)


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """A turn before the question.

    Attributes:
        doc: Its parse.
        by_user: Whether the user said it, not the assistant.
    """

    doc: Doc
    by_user: bool


MAX_ANSWER_TOKENS: Final = 6
"""Number of tokens of the longest turn that counts as an answer without a sentence."""


@dataclass(frozen=True, slots=True)
class Antecedent:
    """Something mentioned in recent turns.

    Attributes:
        mention: The mention; its longest form if there were several.
        token: Its head where it was mentioned last.
        earlier: Its heads where it was mentioned before.
        turn: Index of that turn.
        first_turn: Index of the turn where it was mentioned first.
        in_last_question: Whether it was mentioned last in the user's last question.
        predicate: Whether it is a verb or adjective of that question, not a noun.
        male: Whether its nouns are those of men and boys.
        female: Whether its nouns are those of women and girls.
    """

    mention: Mention
    token: Token
    earlier: tuple[Token, ...]
    turn: int
    first_turn: int
    in_last_question: bool
    predicate: bool
    male: bool
    female: bool

    @property
    def times(self) -> int:
        """How often it was mentioned."""
        return 1 + len(self.earlier)

    @property
    def heads(self) -> tuple[Token, ...]:
        """Its heads, latest first."""
        return (self.token, *self.earlier)

    @property
    def is_complement(self) -> bool:
        """Whether it belongs to a noun before it: the keepers of "a film about the keepers"."""
        return self.token.dep_ == "pobj" and self.token.head.head.pos_ in ("NOUN", "PROPN")


def find_antecedents(turns: Sequence[RecentTurn]) -> list[Antecedent]:
    """Find what recent turns mention, latest last.

    Of two mentions with the same head, one of which has all words of the other, one is kept.

    Args:
        turns: The turns, oldest first.
    """
    asked = max(
        (place for place, turn in enumerate(turns) if turn.by_user and is_question(turn.doc)),
        default=-1,
    )
    found: list[Antecedent] = []
    for place, turn in enumerate(turns):
        for token, words in _heads(turn, asked=place == asked):
            found = _added(found, _antecedent(token, words, place, asked))
    return found


def find_alternatives(antecedents: Sequence[Antecedent]) -> list[list[Antecedent]]:
    """Find the antecedents that one turn lists side by side, each list in spoken order.

    They are conjuncts ("oats and lentils"), or play the same part in clauses of their own ("one
    from Hanlon and one from Brightside").
    """
    rest = [(head, one) for one in antecedents if not one.predicate for head in one.heads]
    lists = []
    while rest:
        first, owner = rest[0]
        listed = [
            (head, one)
            for head, one in rest
            if head is first
            or (one is not owner and head.doc is first.doc and _are_listed(head, one, first, owner))
        ]
        rest = [entry for entry in rest if entry not in listed]
        if len(listed) > 1:
            lists.append([one for _, one in sorted(listed, key=lambda entry: entry[0].i)])
    return lists


def _are_listed(head: Token, one: Antecedent, other: Token, owner: Antecedent) -> bool:
    """Whether two heads in one turn are listed side by side."""
    if head in other.conjuncts:
        return True
    if head.conjuncts or other.conjuncts or head.head == other or other.head == head:
        return False
    return (
        head.dep_ == other.dep_
        and head.dep_ in ("dobj", "nsubj", "pobj")
        and _preposition(head) == _preposition(other)
        and one.mention.type is owner.mention.type
        and one.mention.named == owner.mention.named
    )


def _preposition(token: Token) -> str:
    return token.head.lower_ if token.dep_ == "pobj" else ""


def _heads(turn: RecentTurn, *, asked: bool) -> Iterator[tuple[Token, list[Token]]]:
    """The heads of mentions with their words.

    Of the last question, its verbs and adjectives are included; a short answer without a noun
    counts as a whole: "f twenty eight".
    """
    nouns = {token.i: words for token, words in find_heads(turn.doc)}
    for token in turn.doc[:MAX_TOKENS]:
        if token.i in nouns:
            yield token, nouns[token.i]
        elif asked and token.pos_ in ("VERB", "ADJ") and not token.is_stop and token.is_alpha:
            yield token, [token]
    if not nouns and turn.by_user and len(turn.doc) <= MAX_ANSWER_TOKENS and not asked:
        words = [token for token in turn.doc if not token.is_punct]
        if any(not token.is_stop or token.like_num for token in words) and len(words) > 1:
            yield next(token for token in turn.doc if token.dep_ == "ROOT"), words


def _antecedent(token: Token, words: list[Token], place: int, asked: int) -> Antecedent:
    nouns = {word.lower_ for word in words}
    nouns |= {child.lower_ for child in token.children if child.dep_ in ("appos", "compound")}
    if token.dep_ == "appos":
        nouns.add(token.head.lower_)
    return Antecedent(
        mention=make_mention(token, words),
        token=token,
        earlier=(),
        turn=place,
        first_turn=place,
        in_last_question=place == asked,
        predicate=token.pos_ in ("VERB", "ADJ") and token.tag_ != "VBG",
        male=bool(nouns & (MALE | {"mr", "man", "guy"})) and not nouns & FEMALE,
        female=bool(nouns & (FEMALE | {"mrs", "miss", "ms", "woman", "lady"})) and not nouns & MALE,
    )


def _added(found: Sequence[Antecedent], new: Antecedent) -> list[Antecedent]:
    for place, old in enumerate(found):
        if _is_same(old, new):
            longer = max(new.mention, old.mention, key=lambda mention: len(mention.words))
            merged = replace(new, mention=longer, first_turn=old.first_turn, earlier=old.heads)
            return [*found[:place], *found[place + 1 :], merged]
    return [*found, new]


def _is_same(old: Antecedent, new: Antecedent) -> bool:
    words, others = old.mention.words, new.mention.words
    return (
        old.mention.head == new.mention.head
        and old.predicate == new.predicate
        and (words <= others or others <= words)
    )


Features = Mapping[str, float]

ORDINALS: Final = {"first": 0, "former": 0, "second": 1, "latter": -1, "third": 2, "last": -1}
"""Positions in a list that a question may name."""

_HE: Final = wordlist("he him his himself")
_SHE: Final = wordlist("she her hers herself")
_IT: Final = wordlist("it its itself")
_DEMONSTRATIVES: Final = wordlist("this that these those")
_FIRST_PERSON: Final = wordlist("i my me mine we us our")
_OPENING: Final = re.compile(r"^\W*(?:and|so|then|or|but|what about|how about)\b", re.IGNORECASE)
_ORDINAL: Final = re.compile(
    r"\bthe (?:first|second|third|last|former|latter)(?: (?:ones?|two|option|as|do|does|get|is|was"
    r"|off|need|have|has)\b|['’]s|\W*$)",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(r"\bthe (?:others?|rest)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, as far as its antecedents depend on it.

    Attributes:
        doc: Its parse.
        ambiguous: Its ambiguous words.
        words: Its words, lower case.
        stems: The stems of its content words.
        ordinal: The position it names in a list ("the second"), -1 for the last; None if none.
        other: Whether it asks for what is left of a list: "the other one", "the rest".
        elliptical: Whether it continues the last one without a verb: "and the brake fluid?".
    """

    doc: Doc
    ambiguous: Sequence[str]
    words: frozenset[str]
    stems: frozenset[str]
    ordinal: int | None
    other: bool
    elliptical: bool

    @classmethod
    def of(cls, doc: Doc, ambiguous: Sequence[str]) -> Self:
        """Read a question."""
        words = frozenset(token.lower_ for token in doc)
        named = _ORDINAL.search(doc.text)
        return cls(
            doc=doc,
            ambiguous=ambiguous,
            words=words,
            stems=content_stems(doc),
            ordinal=next(
                (ORDINALS[token.lower_] for token in doc if token.lower_ in ORDINALS), None
            )
            if named
            else None,
            other=bool(_OTHER.search(doc.text)),
            elliptical=is_elliptical(doc),
        )

    @property
    def sorts(self) -> tuple[str, ...]:
        """The sorts of references in it, for which the properties of an antecedent differ."""
        pointing = {word for phrase in self.ambiguous for word in phrase.split()}
        pronouns = {
            "person": bool(self.words & SINGULAR_PEOPLE),
            "they": bool(self.words & PLURALS),
            "it": bool(pointing & _IT),
            "that": any(
                token.lower_ in _DEMONSTRATIVES and token.dep_ not in ("det", "mark")
                for token in self.doc
            ),
        }
        nouns = {
            "that noun": any(
                token.lower_ in _DEMONSTRATIVES and token.dep_ == "det" for token in self.doc
            ),
            "one": bool(self.words & {"one", "ones"}),
            "elliptical": self.elliptical,
            "unmarked": not self.ambiguous,
            "noun": bool(self.ambiguous) and not any(pronouns.values()),
        }
        return tuple(name for name, holds in (pronouns | nouns).items() if holds)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The possible antecedents of a question, latest last.

    Attributes:
        question: The question.
        turns: The turns before it, oldest first.
        all: Everything mentioned.
        new: What the question does not itself say; only these can be antecedents.
        alternatives: The lists of what was mentioned side by side.
        focused: Whether an antecedent was mentioned again after its list, by identity.
    """

    question: Question
    turns: Sequence[RecentTurn]
    all: Sequence[Antecedent]
    new: Sequence[Antecedent]
    alternatives: Sequence[Sequence[Antecedent]]
    focused: Mapping[int, bool] = field(repr=False)

    @classmethod
    def of(cls, question: Question, turns: Sequence[RecentTurn]) -> Self:
        """Find the candidates in the turns before a question."""
        found = find_antecedents(turns)
        stems = [content_stems(turn.doc) for turn in turns]
        return cls(
            question=question,
            turns=turns,
            all=found,
            new=[one for one in found if one.mention.words - question.stems],
            alternatives=find_alternatives(found),
            focused={
                id(one): one.times > 1
                or any(one.mention.words & later for later in stems[one.turn + 1 :])
                for one in found
            },
        )

    def listed_with(self, one: Antecedent) -> Sequence[Antecedent]:
        """The list that an antecedent is in; empty if it is in none."""
        return next((group for group in self.alternatives if one in group), ())

    def features(self) -> list[dict[str, float]]:
        """The features of each of `new` that are not 0."""
        sorts, circumstances = self.question.sorts, self._circumstances()
        return [
            {
                name: float(value)
                for name, value in {
                    **self._by_sort(one, sorts, circumstances),
                    **self._of_person(one),
                    **self._of_list(one),
                }.items()
                if value
            }
            for one in self.new
        ]

    def _by_sort(
        self, one: Antecedent, sorts: Sequence[str], circumstances: Features
    ) -> dict[str, float]:
        general = {"": 1.0, **self._properties(one), **circumstances}
        found = {f"{sort}*{name}": value for sort in sorts for name, value in general.items()}
        return {"bias": 1.0, **found}

    def _properties(self, one: Antecedent) -> dict[str, float]:
        mention, back = one.mention, len(self.turns) - 1 - one.turn
        role = one.token.dep_
        here = [other for other in self.all if other.turn == one.turn and not other.predicate]
        things = (
            other
            for other in reversed(self.all)
            if other.mention.type is MentionType.THING
            and not (other.predicate or other.mention.relational)
        )
        by_user = self.turns[one.turn].by_user
        return {
            "recency": 1 / (1 + back),
            "last_turn": back == 0,
            "second_last_turn": back == 1,
            "third_last_turn": back == 2,
            "by_user": by_user,
            "users_last": by_user and not any(turn.by_user for turn in self.turns[one.turn + 1 :]),
            "subject": role in ("nsubj", "nsubjpass"),
            "object": role in ("dobj", "attr"),
            "after_preposition": role == "pobj",
            "possessor": role == "poss",
            "plural": mention.plural,
            "named": mention.named,
            "words": min(len(mention.words), 4) - 1,
            "complement": one.is_complement,
            "in_last_question": one.in_last_question,
            "in_question": is_question(self.turns[one.turn].doc),
            "relational": mention.relational,
            "indefinite": any(child.lower_ in ("a", "an") for child in one.token.children),
            "possessed": any(child.dep_ == "poss" for child in one.token.children),
            "latest_thing": next(things, None) is one,
            "last_of_turn": bool(here) and here[-1] is one,
            "first_of_turn": bool(here) and here[0] is one,
            "predicate": one.predicate,
            "time": mention.type is MentionType.TIME,
            "place": mention.type is MentionType.PLACE,
            "living": mention.type in (MentionType.PERSON, MentionType.ANIMAL),
            "times": min(one.times, 3) - 1,
            "first_turn": one.first_turn == 0,
            "shared_word": bool(mention.words & self.question.stems),
        }

    def _circumstances(self) -> dict[str, float]:
        question = self.question
        size = len(question.stems)
        return {
            "first_person": bool(question.words & _FIRST_PERSON),
            "name_in_question": any(token.pos_ == "PROPN" for token in question.doc[1:]),
            "no_content_words": size == 0,
            "one_content_word": size == 1,
            "many_content_words": size > 2,
            "several_references": len(question.sorts) > 1,
            "only_asked": has_only_asked(self.turns),
        }

    def _of_person(self, one: Antecedent) -> dict[str, float]:
        he, she = (bool(self.question.words & words) for words in (_HE, _SHE))
        if not he and not she:
            return {}
        people = [other for other in self.all if _may_be_person(other)]
        pronouns = {"person", "they", "it", "that"}.intersection(self.question.sorts)
        return {
            "latest_person": bool(people) and people[-1] is one,
            "only_person": len(people) == 1 and people[0] is one,
            "person": _may_be_person(one),
            "not_a_person": not _may_be_person(one) and pronouns == {"person"},
            "gender": (he and one.male) or (she and one.female),
            "other_gender": (one.female and not she) or (one.male and not he),
        }

    def _of_list(self, one: Antecedent) -> dict[str, float]:
        question, listed = self.question, self.listed_with(one)
        if not listed:
            return {
                "ordinal,unlisted": question.ordinal is not None,
                "other,unlisted": question.other,
            }
        focused = [self.focused[id(other)] for other in listed]
        place = listed.index(one)
        found: dict[str, float] = {"listed": 1.0}
        if question.ordinal is not None:
            asked = place == question.ordinal % len(listed)
            found |= {"ordinal,right": asked, "ordinal,wrong": not asked}
        if question.other:
            found |= {
                "other,focused": focused[place],
                "other,left": any(focused) and not focused[place],
                "other,last": place == len(listed) - 1,
            }
        elif any(focused):
            found |= {"focused": focused[place], "left": not focused[place]}
        for sort in question.sorts:
            found |= {f"{sort},listed": 1.0, f"{sort},listed_last": place == len(listed) - 1}
        return found


def is_elliptical(doc: Doc) -> bool:
    """Whether an utterance continues the one before without a verb: "and the brake fluid?"."""
    return (bool(_OPENING.match(doc.text)) or is_question(doc)) and not any(
        token.pos_ in ("VERB", "AUX") for token in doc
    )


def has_only_asked(turns: Sequence[RecentTurn]) -> bool:
    """Whether the user has only asked or commanded so far, and told nothing."""
    return all(
        is_question(turn.doc) or (len(turn.doc) > 0 and turn.doc[0].tag_ == "VB")
        for turn in turns
        if turn.by_user
    )


def _may_be_person(one: Antecedent) -> bool:
    kind = one.mention.type
    return kind in (MentionType.PERSON, MentionType.ANIMAL) or (
        one.mention.named and kind is MentionType.THING
    )


FIRST_ABOVE: Final = 0.5
"""Probability above which the likeliest phrase is added to a question."""

FURTHER_ABOVE: Final = 0.4
"""Probability above which more phrases are added; found by `train-antecedents`."""

_LEAST: Final = 1e-4
"""Probabilities are bounded by this before their logarithm is taken."""


class AntecedentModel:
    """Scores possible antecedents; thread-safe.

    Args:
        alone: Weight of each feature in the first step.
        beside: Weight of each feature in the second step.
    """

    def __init__(self, alone: Features, beside: Features) -> None:
        self._alone = alone
        self._beside = beside

    @classmethod
    @cache
    def load(cls) -> Self:
        """Load the shipped weights."""
        text = files("hotmem.understanding.query").joinpath("antecedents.json").read_text("utf-8")
        weights: Mapping[str, dict[str, float]] = json.loads(text)
        return cls(weights["alone"], weights["beside"])

    def first_step(self, features: Sequence[Features]) -> list[float]:
        """Return the probabilities of the first step."""
        return [_probability(one, self._alone) for one in features]

    def probabilities(self, candidates: Candidates) -> list[float]:
        """Return the probability of each new antecedent that the question refers to it."""
        first = self.first_step(candidates.features())
        return [_probability(one, self._beside) for one in beside_best(candidates, first)]


def beside_best(candidates: Candidates, first: Sequence[float]) -> list[dict[str, float]]:
    """Return the features of the second step.

    Args:
        candidates: The antecedents.
        first: Their probabilities in the first step.
    """
    if not first:
        return []
    place = max(range(len(first)), key=first.__getitem__)
    best, highest = candidates.new[place], first[place]
    unmarked = not candidates.question.ambiguous
    return [
        {
            "bias": 1.0,
            "alone": _logit(probability),
            **(
                {"best": 1.0, "best,unmarked": float(unmarked)}
                if one is best
                else _beside(one, best, highest, candidates)
            ),
        }
        for one, probability in zip(candidates.new, first, strict=True)
    ]


def _beside(
    one: Antecedent, best: Antecedent, highest: float, candidates: Candidates
) -> dict[str, float]:
    same_turn = one.turn == best.turn
    return {
        "highest": highest,
        "same_turn": float(same_turn),
        "same_sentence": float(same_turn and one.token.sent == best.token.sent),
        "complement_of_best": float(_is_complement_of(one, best)),
        "best_is_complement": float(_is_complement_of(best, one)),
        "alternative": float(one in candidates.listed_with(best)),
        "same_type": float(one.mention.type is best.mention.type),
        "turns_apart": abs(one.turn - best.turn) / 3,
        "named": float(one.mention.named),
    }


def _is_complement_of(one: Antecedent, other: Antecedent) -> bool:
    return one.turn == other.turn and one.is_complement and one.token.head.head == other.token


def _probability(features: Features, weights: Features) -> float:
    score = sum(value * weights.get(name, 0.0) for name, value in features.items())
    return 1 / (1 + exp(-max(-30.0, min(30.0, score))))


def _logit(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return log(bounded / (1 - bounded))


def choose(candidates: Candidates, probabilities: Sequence[float], limit: int) -> tuple[str, ...]:
    """Choose the phrases to add to a question, likeliest first.

    Of phrases listed side by side only the likeliest is chosen, unless the question is about
    several.

    Args:
        candidates: The antecedents.
        probabilities: The probability of each.
        limit: Maximum number of phrases.
    """
    several = "they" in candidates.question.sorts or "both" in candidates.question.words
    chosen: list[Antecedent] = []
    for place in sorted(range(len(probabilities)), key=probabilities.__getitem__, reverse=True):
        one = candidates.new[place]
        if probabilities[place] <= (FURTHER_ABOVE if chosen else FIRST_ABOVE):
            break
        if not several and any(other in candidates.listed_with(one) for other in chosen):
            continue
        chosen.append(one)
    return tuple(dict.fromkeys(one.mention.phrase for one in chosen[:limit]))
