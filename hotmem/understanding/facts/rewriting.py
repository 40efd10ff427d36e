"""Rewritten utterances: contrasts left out, pronouns resolved, and offsets mapped back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from hotmem.types import Correction, EventTime, Statement, Understanding
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.lexicon import ANIMATE, ELDERS, FEMALE, MALE
from hotmem.understanding.query.entities import is_name

_Placed = TypeVar("_Placed", Statement, Correction, EventTime)


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a rewritten utterance.

    Attributes:
        text: Its text.
        start: First character of the original span.
        stop: One past the last.
    """

    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class RewrittenText:
    """A rewritten utterance.

    Attributes:
        segments: Its segments, in order.
    """

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The text of all segments."""
        return "".join(segment.text for segment in self.segments)

    def restore_offsets(self, understanding: Understanding) -> Understanding:
        """Map the offsets of an understanding of `text` to the original utterance."""
        return replace(
            understanding,
            statements=self._restored(understanding.statements),
            corrections=self._restored(understanding.corrections),
            event_times=self._restored(understanding.event_times),
        )

    def _restored(self, found: Iterable[_Placed]) -> tuple[_Placed, ...]:
        return tuple(
            replace(one, start=self._start(one.start), stop=self._start(one.stop - 1) + 1)
            for one in found
        )

    def _start(self, place: int) -> int:
        for segment in self.segments:
            if place < len(segment.text):
                return min(segment.start + place, max(segment.start, segment.stop - 1))
            place -= len(segment.text)
        return self.segments[-1].stop


def rewrite(text: str, replaced: Iterable[tuple[int, int, str]]) -> RewrittenText | None:
    """Replace parts of an utterance by other words; None if there are none.

    Args:
        text: The utterance.
        replaced: First character of each part, one past its last, and the words in its place; one
            that begins inside another is left out.
    """
    segments, last = list[Segment](), 0
    for start, stop, words in replaced:
        if start >= last:
            segments += [Segment(text[last:start], last, start), Segment(words, start, stop)]
            last = stop
    if not segments:
        return None
    kept = (segment for segment in segments if segment.text)
    return RewrittenText((*kept, Segment(text[last:], last, len(text))))


_NAMES: Final = frozenset({"NOUN", "PROPN", "NUM"})
_WITHIN: Final = _NAMES | {"DET", "ADJ"}
"""Parts of speech of what is denied."""

_LINKS: Final = frozenset({",", "and"})


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a speaker denies beside what is so.

    Attributes:
        start: First character of the words that can be left out, the comma before "not" included.
        stop: One past their last character.
        wrong: The value that is denied.
    """

    start: int
    stop: int
    wrong: str


def find_contrasts(doc: Doc) -> Iterator[Contrast]:
    """Yield the contrasts of an utterance, in order; an order keeps what shall not be done."""
    for negation in doc:
        if negation.lower_ != "not" or not negation.i or _is_order(negation.sent.root):
            continue
        first = negation.i
        while first and doc[first - 1].lower_ in _LINKS:
            first -= 1
        denied = list(_denied(negation))
        if not first or not denied or not _are_alike(doc[first - 1], denied, first):
            continue
        value = [token for token in denied if token.pos_ not in ("ADP", "DET")]
        last = denied[-1]
        yield Contrast(
            doc[first - 1].idx + len(doc[first - 1]),
            last.idx + len(last),
            doc.text[value[0].idx : last.idx + len(last)],
        )


def without_contrasts(doc: Doc) -> RewrittenText | None:
    """Leave out what is denied; None if there is nothing."""
    return rewrite(doc.text, ((one.start, one.stop, "") for one in find_contrasts(doc)))


def _is_order(verb: Token) -> bool:
    """Whether a verb is an imperative: "call me Mrs Whitlock, not Dorothy"."""
    return verb.tag_ == "VB" and not any(
        one.dep_ in ("nsubj", "aux", "nsubjpass") for one in verb.children
    )


def _denied(negation: Token) -> Iterator[Token]:
    """Yield the words after "not" up to the end of their phrase; none if a clause follows."""
    rest = list(negation.doc[negation.i + 1 :])
    found: list[Token] = []
    for token in rest:
        opens = token.pos_ == "ADP" and not found
        if not opens and (token.is_sent_start or not (token.pos_ in _WITHIN or _is_name(token))):
            break
        found.append(token)
    following = rest[len(found) : len(found) + 1]
    if not any(token.pos_ in ("VERB", "AUX", "ADP", "PRON") for token in following):
        yield from found


def _are_alike(said: Token, denied: list[Token], stop: int) -> bool:
    """Whether a phrase and what is denied beside it have the same form."""
    last = denied[-1]
    if not (_is_name(said) and _is_name(last)) and {said.pos_, last.pos_} != {"ADJ"}:
        return False
    if denied[0].pos_ != "ADP":
        return True
    near = said.doc[said.sent.start : stop]
    return len(denied) > 1 and any(token.lower_ == denied[0].lower_ for token in near)


def _is_name(word: Token) -> bool:
    """Whether a word ends a name or number, whatever the parser took it for: "Leigh not Leeds"."""
    return word.pos_ in _NAMES or (word.is_alpha and word.text[0].isupper() and word.pos_ != "PRON")


_MALE: Final = frozenset({"he", "his"})
_FEMALE: Final = frozenset({"she", "her"})
_OWN: Final = frozenset({"my", "our", "your"})
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass"})
_VERBS: Final = {"be": " is", "have": " has", "will": " will", "would": " would"}
"""Verbs that are contracted with a pronoun, in full."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person or pet that was mentioned.

    Attributes:
        phrase: As the user would say it: "my son Leo".
        start: First character.
        male: Whether "he" fits.
        female: Whether "she" fits.
    """

    phrase: str
    start: int
    male: bool
    female: bool

    def fits(self, pronoun: str) -> bool:
        """Whether a pronoun can mean the person."""
        return self.male if pronoun in _MALE else self.female


def resolve_pronouns(doc: Doc, before: Sequence[Doc]) -> RewrittenText | None:
    """Replace "he", "she", "his" and "her" where one person alone fits; None if none is.

    Args:
        doc: The parsed turn.
        before: The turns before it, the nearest first.
    """
    return rewrite(doc.text, _named_people(doc, before))


def _named_people(doc: Doc, before: Sequence[Doc]) -> Iterator[tuple[int, int, str]]:
    """Yield the characters of each pronoun that one person alone fits, and who that is."""
    here = list(_people(doc))
    for token in doc:
        if not _is_pronoun(token):
            continue
        if _repeats_subject(token, here):
            yield token.idx, token.idx + len(token.text_with_ws), ""
            continue
        person = _antecedent(token, here, before)
        if person is None:
            continue
        stop = token.idx + len(token)
        named = person.phrase
        if token.tag_ == "PRP$":
            named = f"{named}'s"
        elif not token.whitespace_ and token.i + 1 < len(doc):
            verb = token.nbor()
            if verb.lemma_ not in _VERBS or verb.text[0] not in "'’":
                continue
            named, stop = f"{named}{_VERBS[verb.lemma_]}", verb.idx + len(verb)
        if token.is_sent_start:
            named = f"{named[:1].upper()}{named[1:]}"
        yield token.idx, stop, named


def _repeats_subject(pronoun: Token, here: Sequence[Person]) -> bool:
    """Whether a pronoun directly follows whom it means: "my sister she lives in Hull"."""
    before = pronoun.nbor(-1) if pronoun.i else pronoun
    return any(one.start + len(one.phrase) == before.idx + len(before) for one in here)


def has_pronoun(doc: Doc) -> bool:
    """Whether a turn has a pronoun that `resolve_pronouns` may replace."""
    return any(map(_is_pronoun, doc))


def _is_pronoun(token: Token) -> bool:
    """Whether a word is a pronoun that states something: a subject, or the owner of one."""
    if token.lower_ not in _MALE | _FEMALE or token.pos_ != "PRON":
        return False
    return token.dep_ in _SUBJECTS or (token.tag_ == "PRP$" and token.head.dep_ in _SUBJECTS)


def _antecedent(pronoun: Token, here: Sequence[Person], before: Sequence[Doc]) -> Person | None:
    """The one person that a pronoun can mean."""
    earlier = [person for person in here if person.start < pronoun.idx]
    for people in (earlier, *(list(_people(doc)) for doc in before)):
        fitting = _distinct([person for person in people if person.fits(pronoun.lower_)])
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _distinct(people: Sequence[Person]) -> list[Person]:
    """The people of whom no other mention says more: "my son" and "my son Leo" are one."""
    kept: list[Person] = []
    for person in people:
        words = set(person.phrase.lower().split())
        same = next((one for one in kept if _overlap(words, one)), None)
        if same is None:
            kept.append(person)
        elif len(person.phrase) > len(same.phrase):
            kept[kept.index(same)] = person
    return kept


def _overlap(words: set[str], other: Person) -> bool:
    others = set(other.phrase.lower().split())
    return words <= others or others <= words


def _people(doc: Doc) -> Iterator[Person]:
    """Yield the people and pets that a turn mentions in the singular."""
    named: set[int] = set()
    for token in doc:
        if token.i in named or token.tag_ in ("NNS", "NNPS"):
            continue
        role = token.lemma_.lower()
        if role in ANIMATE and token.pos_ in ("NOUN", "PROPN"):
            owner = next((one for one in token.lefts if one.dep_ == "poss"), None)
            own = owner is None and role in ELDERS
            if not own and (owner is None or owner.lower_ not in _OWN):
                continue
            last = _end_of_kin(token)
            name = _name_after(last)
            named.update(one.i for one in name)
            first = token.i if owner is None else owner.i + 1
            words = [doc[first : last.i + 1].text, *(one.text for one in name)]
            yield Person(
                " ".join(words if owner is None else ["my", *words]),
                token.idx,
                role not in FEMALE,
                role not in MALE,
            )
        elif _is_person_name(token) and not _names_speaker(token):
            name = [token, *_name_after(token)]
            named.update(one.i for one in name)
            yield Person(" ".join(one.text for one in name), token.idx, True, True)


def _end_of_kin(token: Token) -> Token:
    """The last word of a kind of relative: "law" of "mother-in-law"."""
    following = [one for one in token.doc[token.i + 1 : token.i + 5] if one.text != "-"][:2]
    return following[1] if [one.lower_ for one in following] == ["in", "law"] else token


def _name_after(token: Token) -> list[Token]:
    """The name that follows directly: "Beth" of "my sister Beth", "Lee" of "Ana Lee"."""
    found = []
    for following in token.doc[token.i + 1 :]:
        if following.pos_ != "PROPN" or not following.text[:1].isupper():
            break
        found.append(following)
    return found


def _is_person_name(token: Token) -> bool:
    return (
        token.pos_ == "PROPN"
        and is_name(token)
        and (
            token.ent_type_ == "PERSON"
            or (token.dep_ in _SUBJECTS and token.ent_type_ in ("", "ORG"))
        )
    )


def _names_speaker(token: Token) -> bool:
    """Whether a name is the speaker's own: "I'm Ana", "my name is Ana"."""
    subject = next((one for one in token.head.lefts if one.dep_ in _SUBJECTS), None)
    return (
        token.dep_ in ("attr", "oprd")
        and subject is not None
        and subject.lower_ in ("i", "name", "this", "it")
    )
