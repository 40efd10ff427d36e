"""Whether a clause is asserted: neither a question, a quotation, a condition nor hearsay."""

from collections.abc import Iterator
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Token

_REASONS: Final = wordlist("because since cause 'cause cuz although though that but and so now")

_BELIEVING: Final = wordlist(
    "think guess believe suppose know mean feel realise realize notice remember mention tell "
    "say figure find learn discover"
)

_DOUBTING: Final = wordlist("think guess believe suppose feel figure")

HEDGES: Final = frozenset(
    {"maybe", "perhaps", "probably", "possibly", "apparently", "supposedly", "might", "may"}
)

_GOVERNED: Final = frozenset({"ccomp", "xcomp", "dobj", "oprd"})
"""Dependencies of what somebody says."""

_SPEAKING: Final = frozenset({"i", "we", "you"})

VERB_TAGS: Final = frozenset({"VERB", "AUX"})


def is_asserted(verb: Token) -> bool:
    """Whether the speaker asserts the clause, judged by its place in the sentence."""
    marks = {child.lower_ for child in verb.children if child.dep_ == "mark"}
    if any(child.tag_ in ("WRB", "WP", "WDT") for child in verb.children) or marks & {
        "if",
        "unless",
        "whether",
        "until",
        "while",
        "as",
        "like",
    }:
        return False
    head = verb.head
    match verb.dep_:
        case "ROOT" | "parataxis":
            return True
        case "conj":
            return head.pos_ not in VERB_TAGS or (
                head.dep_ not in ("relcl", "xcomp", "acl", "pcomp") and is_asserted(head)
            )
        case "ccomp":
            if verb.i < head.i and not marks and head.lemma_ not in ("say", "ask", "tell"):
                return True
            if (
                head.lemma_ in ("remember", "note")
                and head.tag_ == "VB"
                and not any(child.dep_ in ("nsubj", "aux", "neg") for child in head.children)
            ):
                return True
            if head.lemma_ == "turn":
                return is_asserted(head)
            first = any(
                child.dep_ == "nsubj" and child.lower_ in ("i", "we") for child in head.children
            )
            if head.lemma_ in _DOUBTING and head.tag_ == "VBD":
                return False
            return (
                head.lemma_ in _BELIEVING
                and first
                and not any(child.dep_ == "neg" for child in head.children)
                and is_asserted(head)
            )
        case "advcl":
            return bool(marks) and marks <= _REASONS and is_asserted(head)
        case _:
            return False


def is_question(verb: Token, subject: Token | None) -> bool:
    """Whether the clause is a question.

    It is inverted, begins with a question word, or is the last clause before a question mark.
    """
    if subject is None:
        return any(token.text == "?" for token in verb.sent)
    if any(child.dep_ in ("aux", "auxpass") and child.i < subject.i for child in verb.children) or (
        verb.lemma_ == "be" and verb.i < subject.i
    ):
        return True
    if any(
        part.tag_ in ("WP", "WRB", "WP$", "WDT") for part in subject.subtree if part.i <= subject.i
    ):
        return True
    rest = subject.doc[verb.i :]
    for token in rest:
        if token.text in (".", "!", ";"):
            return False
        if token.text == "?":
            return not any(
                other.i > verb.i
                and other.i < token.i
                and (other.tag_ in ("WP", "WRB") or _is_inverted(other))
                for other in rest
            )
    return False


def _is_inverted(token: Token) -> bool:
    return token.dep_ in ("aux", "auxpass") and any(
        child.dep_ in ("nsubj", "nsubjpass") and child.i > token.i for child in token.head.children
    )


def is_quoted(verb: Token) -> bool:
    """Whether the verb stands inside quotation marks."""
    before = verb.doc[: verb.i]
    opened = sum(token.text in ('"', "“", "``") for token in before)
    closed = sum(token.text in ("”", "''") for token in before)
    return (opened - closed) % 2 == 1


def is_reported(word: Token) -> bool:
    """Whether a word belongs to what somebody else said, wrote or sang, quoted or not.

    It does if a verb before it governs its clause and has a subject that is not the speaker.
    """
    while word.head != word:
        head = word.head
        if (
            word.dep_ in _GOVERNED
            and head.i < word.i
            and head.pos_ == "VERB"
            and any(
                child.dep_ == "nsubj" and child.lower_ not in _SPEAKING and child.i < head.i
                for child in head.children
            )
        ):
            return True
        word = head
    return False


def is_hedged(verb: Token) -> bool:
    """Whether the clause is expressed with doubt: "maybe", "I think"."""
    if any(child.lower_ in HEDGES for child in _preceding_modifiers(verb)):
        return True
    head = verb.head
    return verb.dep_ == "ccomp" and verb.i > head.i and head.lemma_ in _DOUBTING


def _preceding_modifiers(verb: Token) -> Iterator[Token]:
    yield from (child for child in verb.children if child.dep_ in ("advmod", "aux"))
    if verb.dep_ == "xcomp":
        yield from (child for child in verb.head.children if child.dep_ in ("advmod", "aux"))
