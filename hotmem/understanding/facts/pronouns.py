"""Pronouns of people, replaced by whom they mean: "Leo starts school. He's nervous".

Only where one person alone fits who was mentioned before: in the same turn, else in the bot's turn
before it, else in the user's turn before that. In doubt the pronoun stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.types.understanding import Doc, Token
from hotmem.understanding.animate_nouns import ANIMATE, ELDERS, FEMALE, MALE
from hotmem.understanding.facts.statements import RewrittenText, Segment
from hotmem.understanding.query.entities import is_name

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
    here = list(_people(doc))
    text, segments, last = doc.text, list[Segment](), 0
    for token in doc:
        if not _is_pronoun(token):
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
        segments += [Segment(text[last : token.idx], last, token.idx)]
        segments += [Segment(named, token.idx, stop)]
        last = stop
    if not segments:
        return None
    return RewrittenText((*segments, Segment(text[last:], last, len(text))))


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
