"""Features of a possible antecedent of a question's ambiguous words, for a linear model.

Most are a property of the antecedent for one sort of question: "person*last_turn" is 1 if the
question has "he" or "she" and the antecedent stands in the last turn.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from hotmem.text.stemming import terms
from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Doc
from hotmem.understanding.query.ambiguity import PLURALS, SINGULAR_PEOPLE, WEATHER_TOPICS
from hotmem.understanding.query.antecedents import (
    Antecedent,
    RecentTurn,
    find_alternatives,
    find_antecedents,
)
from hotmem.understanding.query.intent import is_question
from hotmem.understanding.query.mentions import MentionType, is_place, is_time

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
            stems=frozenset(
                stem for token in doc if not token.is_stop for stem in terms(token.text)
            ),
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
        stems = [
            {stem for token in turn.doc if not token.is_stop for stem in terms(token.text)}
            for turn in turns
        ]
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
                    **self._of_last_question(one),
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
        return {"bias": 1.0, "answer": self._is_in_answer(one), **found}

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

    def _is_in_answer(self, one: Antecedent) -> bool:
        """Whether the user's last turn is an answer that names it: "the mantel one"."""
        last = next((turn for turn in reversed(self.turns) if turn.by_user), None)
        return (
            last is not None
            and last.is_short
            and any(
                stem in one.mention.words
                for token in last.doc
                if not token.is_stop
                for stem in terms(token.text)
            )
        )

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

    def _of_last_question(self, one: Antecedent) -> dict[str, float]:
        question, kind = self.question, one.mention.type
        ahead = any(token.lemma_.lower() in WEATHER_TOPICS for token in question.doc)
        found: dict[str, float] = {}
        if ahead:
            found = {"weather,place": kind is MentionType.PLACE}
        if not question.elliptical:
            return found
        asked = {token.lower_ for token in question.doc if token.dep_ == "prep"}
        same = one.preposition in asked
        found |= {
            "same_preposition": same,
            "both_times": kind is MentionType.TIME and any(map(is_time, question.doc)),
            "both_places": kind is MentionType.PLACE and any(map(is_place, question.doc)),
        }
        if one.in_last_question and not one.predicate:
            nouns = [other for other in self.all if other.in_last_question and not other.predicate]
            fragment = "phrase" if asked else "noun"
            found |= {
                f"last_question,{fragment}": 1.0,
                f"last_question,{fragment},same_preposition": same,
                f"last_question,{fragment},preposition": bool(one.preposition),
                f"last_question,{fragment},object": one.token.dep_ in ("dobj", "attr"),
                f"last_question,{fragment},subject": one.token.dep_ in ("nsubj", "nsubjpass"),
                f"last_question,{fragment},first": nouns[0] is one,
                f"last_question,{fragment},last": nouns[-1] is one,
                f"last_question,{fragment},alone": len(nouns) == 1,
            }
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
