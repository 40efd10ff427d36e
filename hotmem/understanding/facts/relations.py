"""The closed set of relations, and the words that express them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.temporal import TimeMention
from hotmem.text.word_sets import word_sets
from hotmem.types import Category, Kind, Statement, Termination
from hotmem.types.understanding import Token
from hotmem.understanding.facts.clauses import misattached_verb
from hotmem.understanding.facts.third_person import QUANTIFIERS, UNRESOLVED
from hotmem.understanding.lexicon import FAMILY, PETS

_WORDS: Final = word_sets(__file__)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation and the defaults of its statements.

    Attributes:
        name: Its text between subject and object, part of the key by which statements collide.
        kind: Kind of its statements.
        category: Category of its statements.
        importance: 1 (passing) to 5 (must not be forgotten).
        single: Whether it has one value at a time, so that a new value supersedes.
        changes: Whether it changes with time.
    """

    name: str
    kind: Kind = Kind.FACT
    category: Category = Category.CONTEXTS
    importance: int = 3
    single: bool = False
    changes: bool = False

    def statement(self, subject: str, value: str, text: str, start: int, stop: int) -> Statement:
        """Build a statement of this relation.

        Args:
            subject: The person or thing it is about.
            value: The object.
            text: The full sentence.
            start: First character of its words in the turn.
            stop: One past the last character.
        """
        return Statement(
            text,
            subject,
            self.name,
            value,
            self.kind,
            self.category,
            self.importance,
            start,
            stop,
            changes=self.changes,
            single=self.single,
        )


IS_CALLED: Final = Relation("is called", importance=5, single=True)
ANY_NAME: Final = Termination((), (IS_CALLED.name,))
"""What a new name ends, whichever the old one was: "my dog is called Max now"."""

LIVES_IN: Final = Relation("lives in", importance=4, single=True, changes=True)
LIVES_WITH: Final = Relation("lives with", importance=3, changes=True)
IS_FROM: Final = Relation("is from", importance=4, single=True)
WORKS_AT: Final = Relation("works at", importance=4, single=True, changes=True)
WORKS_AS: Final = Relation("works as", importance=4, single=True, changes=True)
WORKS_IN: Final = Relation("works in", importance=3, changes=True)
WORKS_ON: Final = Relation("works on", kind=Kind.CONTEXT, category=Category.PROJECTS, changes=True)
STUDIES: Final = Relation("studies", category=Category.LEARNINGS, importance=4, changes=True)
STUDIES_AT: Final = Relation(
    "studies at", category=Category.LEARNINGS, importance=4, single=True, changes=True
)
LEARNS: Final = Relation("learns", kind=Kind.SKILL, category=Category.LEARNINGS, changes=True)
CAN: Final = Relation("can", kind=Kind.SKILL)
HAS: Final = Relation("has", importance=3)
HAS_CONDITION: Final = Relation("has", importance=5)
ALLERGIC_TO: Final = Relation("is allergic to", importance=5)
IS: Final = Relation("is", importance=3)
IS_NOW: Final = Relation("is", importance=2, changes=True)
IS_OF_MAKE: Final = Relation("is", importance=3, single=True, changes=True)
IS_AGED: Final = Relation("is aged", importance=3, single=True, changes=True)
IS_ON: Final = Relation(
    "is on",
    kind=Kind.REMINDER,
    category=Category.REMINDERS,
    importance=4,
    single=True,
    changes=True,
)
IS_BORN_ON: Final = Relation("is on", importance=5, single=True)
IS_DETAIL: Final = Relation("is", importance=4, single=True, changes=True)
IS_IN: Final = Relation("is in", importance=3, single=True, changes=True)
FAVOURITE: Final = Relation("is", kind=Kind.PREFERENCE, importance=4, single=True, changes=True)
LIKES: Final = Relation("likes", kind=Kind.PREFERENCE)
DISLIKES: Final = Relation("dislikes", kind=Kind.PREFERENCE)
PREFERS: Final = Relation("prefers", kind=Kind.PREFERENCE)
FEARS: Final = Relation("is afraid of", kind=Kind.PREFERENCE)
MARRIED_TO: Final = Relation("is married to", importance=5, single=True, changes=True)
WITH: Final = Relation("is with", importance=4, single=True, changes=True)
KNOWS: Final = Relation("knows")
REGULARLY: Final = Relation("regularly", kind=Kind.PREFERENCE, changes=True)
DID: Final = Relation("did")
DOES: Final = Relation("does", importance=2, changes=True)
BORN_IN: Final = Relation("was born in", importance=4, single=True)
PLANS_TO: Final = Relation(
    "plans to", kind=Kind.REMINDER, category=Category.REMINDERS, importance=3, changes=True
)
WANTS: Final = Relation(
    "wants", kind=Kind.CONTEXT, category=Category.PROJECTS, importance=2, changes=True
)
ASKS: Final = Relation("asks", kind=Kind.RULE, category=Category.SYSTEM, importance=5)
HAS_TO: Final = Relation(
    "has to", kind=Kind.REMINDER, category=Category.REMINDERS, importance=4, changes=True
)
IS_REMINDED: Final = Relation(
    "wants to be reminded",
    kind=Kind.REMINDER,
    category=Category.REMINDERS,
    importance=4,
    changes=True,
)

PURSUIT_RELATIONS: Final = tuple(
    relation.name
    for relation in (
        WORKS_AT,
        WORKS_AS,
        WORKS_IN,
        WORKS_ON,
        STUDIES,
        STUDIES_AT,
        LEARNS,
        CAN,
        DOES,
        REGULARLY,
    )
)
"""Names of the relations that end when something is given up, quit or left."""


def _by_words(table: Mapping[Relation, str]) -> Mapping[tuple[str, str], Relation]:
    """Invert a table of relations and the word pairs that express them."""
    return {
        (first, second): relation
        for relation, pairs in table.items()
        for first, second in map(str.split, pairs.split(", "))
    }


STATIVE_RELATIONS: Final = _by_words(
    {
        LIVES_IN: "live in, live near, live on, base in, settle in",
        LIVES_WITH: "live with, stay with",
        IS_FROM: "come from",
        WORKS_AT: "work at, work for, employ by, volunteer at, volunteer for",
        WORKS_AS: "work as, freelance as",
        WORKS_IN: "work in, run dobj, teach dobj, manage dobj",
        WORKS_ON: "work on, build dobj, write dobj",
        STUDIES: "study dobj, major in",
        STUDIES_AT: "study at",
        LEARNS: "learn dobj, learn xcomp, train for, practise dobj, practice dobj",
        CAN: "speak dobj, play dobj, sing in, play in, play for",
        HAS: "own dobj, drive dobj, collect dobj, grow dobj, keep dobj",
        LIKES: "like dobj, love dobj, enjoy dobj, adore dobj, like xcomp, love xcomp, enjoy "
        "xcomp, adore xcomp, obsess with",
        PREFERS: "prefer dobj, prefer xcomp",
        DISLIKES: "hate dobj, dislike dobj, hate xcomp, dislike xcomp, stand dobj, despise dobj",
        WANTS: "want dobj, look for, save for, plan dobj, wish for",
        KNOWS: "belong to, know dobj",
        WITH: "date dobj",
        HAS_CONDITION: "suffer from",
        REGULARLY: "take dobj, eat dobj, drink dobj",
    }
)
"""Relations of the present tense, by verb and complement: "dobj", "xcomp" or a preposition."""

COMPLEMENTS: Final[Mapping[Relation, frozenset[str]]] = {
    HAS: FAMILY | PETS | _WORDS["possessions"],
    HAS_CONDITION: _WORDS["conditions"],
    CAN: _WORDS["skills"],
}
"""Heads of complements that are worth keeping; "has an idea" and "plays a role" are not."""

COPULAR_RELATIONS: Final = _by_words(
    {
        ALLERGIC_TO: "allergic to, intolerant to",
        FEARS: "afraid of, scared of, terrified of",
        MARRIED_TO: "married to, engaged to",
        LIKES: "fond of, interested in, fan of, obsessed with, addicted to, passionate about",
        KNOWS: "friends with",
        CAN: "good at, fluent in",
        BORN_IN: "born in, raised in",
    }
)
"""Relations of adjectives and nouns after "be", with their preposition."""


MAX_PREDICATE_WORDS: Final = 22
"""Words of the longest predicate that is kept."""

MAX_RELATIVE_CLAUSE_WORDS: Final = 9
"""Words of the longest relative clause that is kept."""

LEFT_OUT: Final = _WORDS["left_out"]

DISCOURSE: Final = _WORDS["discourse"]
"""Discourse words, which are left out of facts."""

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl"})

_INNER: Final = frozenset("-/'’&")
"""Marks that may stand inside a word."""

_LEADING: Final = frozenset({"WDT", "WP", "WP$", "WRB"})
"""Tags of relative pronouns and adverbs."""


def phrase(head: Token, *, bare: bool = False, split: bool = False) -> tuple[Token, ...]:
    """Return a head and its dependents, in order.

    Clauses, contrasts ("Denver, not Boston") and outer punctuation are left out.

    Args:
        head: The head.
        bare: Leave out its prepositional phrases and its article: "Siemens" of "Siemens in Munich".
        split: Leave out its conjuncts, each of which makes a fact of its own.
    """
    kept = set(_members(head))
    for child in head.children:
        if (bare and (child.dep_ in ("prep", "relcl") or child.lower_ in ("a", "an"))) or (
            (bare or split) and (child.dep_ in ("conj", "cc") or child.text == ",")
        ):
            kept -= set(child.subtree)
    ordered = sorted(kept, key=lambda token: token.i)
    contrast = next(
        (
            place
            for place, token in enumerate(ordered)
            if token.lower_ == "not" and _has_noun(ordered[:place])
        ),
        len(ordered),
    )
    while contrast and (ordered[contrast - 1].dep_ == "cc" or ordered[contrast - 1].text == ","):
        contrast -= 1
    return tuple(ordered[:contrast])


def _has_noun(tokens: Sequence[Token]) -> bool:
    return any(token.pos_ in ("NOUN", "PROPN", "NUM") for token in tokens)


def _members(head: Token, left_out: frozenset[str] = LEFT_OUT) -> Iterator[Token]:
    yield head
    for child in head.children:
        if child.dep_ in left_out and not (
            is_coordinated(child) or (child.dep_ == "relcl" and _is_restrictive(child))
        ):
            continue
        if child.dep_ == "punct" and not (_is_word_internal(child) or _is_list_comma(child)):
            continue
        if is_discourse(child) or (child.dep_ == "appos" and not _names(child, head)):
            continue
        yield from _members(child, LEFT_OUT - _SUBJECTS)


def _names(apposition: Token, head: Token) -> bool:
    """Whether an apposition is a name, or directly behind its noun: "my son Tim", "a capital K"."""
    return apposition.pos_ == "PROPN" or apposition.left_edge.i == head.i + 1


def _is_restrictive(clause: Token) -> bool:
    """Whether a relative clause is restrictive and self-contained: "a friend who teaches music"."""
    words = tuple(_members(clause, LEFT_OUT - _SUBJECTS))
    return (
        _has_gap(clause)
        and len(words) <= MAX_RELATIVE_CLAUSE_WORDS
        and not _lacks_complement_clause(words)
        and not any(map(_is_unresolved, words))
        and not loses_restriction(words, negated=False)
    )


def _has_gap(clause: Token) -> bool:
    """Whether a relative clause modifies its noun and is no clause of its own.

    No comma precedes it, and without "who" or "that" its verb lacks an object: "I'm a nurse I have
    three cats" is two sentences.
    """
    if clause.left_edge.i == 0 or clause.left_edge.nbor(-1).is_punct:
        return False
    led = any(
        token.tag_ in _LEADING or token.lower_ == "that"
        for token in clause.doc[clause.left_edge.i : clause.i]
    )
    return led or clause.tag_ == "VB" or not any(child.dep_ == "dobj" for child in clause.rights)


def _lacks_complement_clause(words: Sequence[Token]) -> bool:
    """Whether a verb has lost its complement clause: "makes me think"."""
    return any(
        child.dep_ == "ccomp" and child.i > token.i
        for token in words
        if token.pos_ in ("VERB", "AUX")
        for child in token.children
    )


def _is_word_internal(token: Token) -> bool:
    """Whether a mark is part of a word or number: the hyphen of "self-care", the dollar of "$5"."""
    if token.text in _INNER:
        return not token.whitespace_ and token.i > 0 and not token.nbor(-1).whitespace_
    return token.text in ("$", "%", "#")


def _is_list_comma(token: Token) -> bool:
    """Whether a comma separates coordinated nouns or adjectives."""
    return token.text == "," and any(
        other.i > token.i and other.dep_ == "conj" and is_coordinated(other)
        for other in token.head.children
    )


def is_coordinated(token: Token) -> bool:
    """Whether a word is a conjunct or conjunction of nouns or adjectives.

    Coordinated verbs are clauses of their own.
    """
    if token.dep_ == "cc":
        return any(other.dep_ == "conj" and is_coordinated(other) for other in token.head.children)
    nominal = ("NOUN", "PROPN", "ADJ", "NUM", "X")
    return (
        token.dep_ == "conj"
        and token.pos_ in nominal
        and token.head.pos_ in nominal
        and misattached_verb(token) is None
    )


def is_self_contained(words: Sequence[Token], mentions: Sequence[TimeMention]) -> bool:
    """Whether a predicate can be understood alone: it is short and has no unresolved pronoun."""
    if len(words) > MAX_PREDICATE_WORDS or (
        words[-1].pos_ in ("ADP", "DET", "PART", "SCONJ")
        and words[-1].dep_ != "prt"
        and not is_in_mention(words[-1], mentions)
        and not _in_relative_clause(words[-1])
    ):
        return False
    return not _lacks_complement_clause(words) and not any(
        _is_unresolved(token) and not is_in_mention(token, mentions) for token in words
    )


def loses_restriction(words: Sequence[Token], *, negated: bool) -> bool:
    """Whether a restrictive relative clause is left out.

    "the nurses I saw there", or, in a negation, "flowers that you gave me".
    """
    return any(
        child.dep_ == "relcl"
        and child not in words
        and _has_gap(child)
        and (negated or any(other.lower_ == "the" for other in token.lefts))
        for token in words
        for child in token.rights
    )


def _is_unresolved(token: Token) -> bool:
    """Whether a word refers to something outside the phrase.

    "other" and "lots" do not if a noun follows.
    """
    if token.lower_ not in UNRESOLVED or token.tag_ == "IN" or token.pos_ == "PROPN":
        return False
    if token.tag_ in ("WDT", "WP") and _in_relative_clause(token):
        return False
    if token.lower_ == "one" and token.i and token.nbor(-1).like_num:
        return False
    if token.lower_ in QUANTIFIERS:
        return not (
            token.dep_ in ("amod", "det", "predet")
            or any(child.lower_ == "of" and any(child.children) for child in token.children)
        )
    return not (
        token.lower_ in ("one", "something", "anything", "nothing", "someone", "everyone")
        and token.dep_ in ("nummod",)
    )


def _in_relative_clause(token: Token) -> bool:
    """Whether a word is in a relative clause: the "on" of "a computer that I play games on"."""
    return any(verb.dep_ == "relcl" for verb in token.ancestors)


def is_in_mention(token: Token, mentions: Sequence[TimeMention]) -> bool:
    """Whether a token is part of a time."""
    return any(mention.start <= token.idx < mention.stop for mention in mentions)


def _means_now(token: Token) -> bool:
    """Whether words only mean the present: "these days"."""
    return token.lower_ == "days" and any(child.lower_ == "these" for child in token.children)


def _is_by_the_way(token: Token) -> bool:
    return token.lower_ == "by" and [one.lower_ for one in token.subtree] == ["by", "the", "way"]


def is_discourse(token: Token) -> bool:
    """Whether a token is a discourse word or an emphatic "do"."""
    if (
        token.dep_ == "aux"
        and token.lower_ in ("do", "does")
        and not any(child.dep_ == "neg" for child in token.head.children)
    ):
        return True
    if token.dep_ == "prep" and (token.lower_ == "because" or _is_by_the_way(token)):
        return True
    if (token.lower_ == "well" and token.head.pos_ not in ("VERB", "AUX")) or (
        token.lower_ == "too" and token.i < token.head.i
    ):
        return False
    if token.dep_ == "npadvmod" and token.lower_ in ("myself", "ourselves"):
        return True
    adverbial = token.dep_ in ("advmod", "npadvmod", "intj", "prep") and (
        token.lower_ in DISCOURSE or _means_now(token)
    )
    return adverbial and not any(child.dep_ in ("pobj", "pcomp") for child in token.children)
