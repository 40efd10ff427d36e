"""Possible antecedents of a question's ambiguous words: what was mentioned in recent turns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hotmem.types.parse import Doc, Token
from hotmem.understanding.animate_nouns import FEMALE, MALE
from hotmem.understanding.query.intent import is_question
from hotmem.understanding.query.mentions import MAX_TOKENS, Mention, find_heads, make_mention


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """A turn before the question.

    Attributes:
        doc: Its parse.
        by_user: Whether the user said it, not the assistant.
    """

    doc: Doc
    by_user: bool

    @property
    def is_short(self) -> bool:
        """Whether it is as short as an answer: "the mantel one"."""
        return len(self.doc) <= MAX_ANSWER_TOKENS


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
    def preposition(self) -> str:
        """The preposition before it, lower case; empty if there is none."""
        return _preposition(self.token)

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
    if not nouns and turn.by_user and turn.is_short and not asked:
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
