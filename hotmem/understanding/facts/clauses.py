"""The clauses of an utterance that assert something.

Who, what verb, in which tense, with what doubt.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Doc, Token


class Tense(StrEnum):
    """When a clause holds."""

    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Clause:
    """One assertion.

    Attributes:
        subject: The head of its subject; None where the speaker leaves "I" out ("Just moved to
            Lyon").
        verb: The verb that carries the meaning ("visit" in "I'm going to visit").
        finite: The verb that agrees with the subject ("'m").
        frame: What stands around the verb: "", "want", "plan", "must", "used", "can", "start".
        tense: When it holds.
        negated: Whether it is denied, or said to hold no longer.
        hedged: Whether it is said with doubt.
    """

    subject: Token | None
    verb: Token
    finite: Token
    frame: str
    tense: Tense
    negated: bool
    hedged: bool

    @property
    def no_longer(self) -> bool:
        """Whether it says that something is so no more: "any more", "no longer"."""
        return self.negated and any(
            child.lower_ in _NO_MORE for child in (*self.verb.children, *self.finite.children)
        )

    @property
    def copular(self) -> bool:
        """Whether its verb is "be", also as recognisers write it: "im sure"."""
        return self.verb.lemma_ == "be" or self.verb.lower_ == "m"


_FRAMES: Final = {
    "want": "want", "wish": "", "hope": "want", "like": "want", "love": "want", "plan": "plan", "intend": "plan",
    "need": "must", "have": "must", "get": "must", "use": "used", "go": "plan",
    "decide": "plan", "look": "want", "aim": "plan", "prepare": "plan",
}  # fmt: skip
"""Verbs that take "to": what they make of the verb they govern."""

_PHASES: Final = frozenset({"start", "begin", "end"})
"""Verbs after which another one tells what was begun: "started working at Bosch", "ended up
moving to Lyon"."""

_AIMING: Final = frozenset(
    {
        ("think", "of"),
        ("think", "about"),
        ("dream", "of"),
        ("dream", "about"),
        ("plan", "on"),
        ("look", "into"),
        ("look", "at"),
    }
)
"""Verbs and prepositions after which a gerund tells what is wanted."""

_REASONS: Final = frozenset(
    {
        "because",
        "since",
        "cause",
        "'cause",
        "cuz",
        "although",
        "though",
        "that",
        "but",
        "and",
        "so",
        "now",
    }
)
_BELIEVING: Final = wordlist(
    "think guess believe suppose know mean feel realise realize notice remember mention tell say figure find learn discover"
)
_DOUBTING: Final = wordlist("think guess believe suppose feel figure")
_HEDGES: Final = frozenset(
    {"maybe", "perhaps", "probably", "possibly", "apparently", "supposedly", "might", "may"}
)
_UNREAL: Final = frozenset(
    {"would", "'d", "’d", "could", "should", "might", "may", "must", "ought"}
)
_NO_MORE: Final = frozenset({"more", "anymore", "longer"})
_ALMOST: Final = frozenset({"almost", "nearly"})
_LASTING: Final = frozenset({"live", "work", "own", "know", "have", "play", "study", "love"})
"""Verbs whose perfect with "for" or "since" still holds."""

_VERBS: Final = frozenset({"VERB", "AUX"})

_OPENINGS: Final = frozenset({"ADV", "INTJ", "PUNCT", "CCONJ", "PART", "SPACE"})
"""What may stand before a verb whose subject is left out."""

_LEFT_ALONE: Final = frozenset(
    {"love", "like", "hate", "enjoy", "prefer", "live", "work", "study", "own", "have", "teach"}
)
"""Verbs whose plain form without a subject tells of the speaker ("Love spicy food") rather than
asks for something."""


def read_clauses(doc: Doc) -> tuple[Clause, ...]:
    """The asserting clauses of an utterance, in order.

    Questions, conditions, wishes, quotations and hearsay are left out.
    """
    return tuple(clause for token in doc if (clause := _clause(token)) is not None)


def _clause(token: Token) -> Clause | None:
    if (
        token.pos_ not in _VERBS
        or any(child.lower_ in _ALMOST for child in token.lefts)
        or token.dep_ in ("aux", "auxpass", "xcomp", "amod", "compound", "acl", "csubj", "pcomp")
    ):
        return None
    subject = _subject(token)
    if (
        (subject is None and not _elliptic(token))
        or not _asserted(token)
        or _asked(token, subject)
        or _quoted(token)
    ):
        return None
    verb, frame = _inner(token)
    helpers = [child for child in token.children if child.dep_ in ("aux", "auxpass")]
    if not helpers and token.dep_ == "conj":
        helpers = [
            child for child in token.head.children if child.dep_ == "aux" and child.tag_ == "MD"
        ]
    finite = next(
        (child for child in helpers if child.head == token and not _emphatic(child)), token
    )
    if (
        subject is not None
        and finite == token
        and token.tag_ in ("VB", "VBG", "VBN")
        and token.dep_ != "conj"
        and not (
            token.tag_ == "VB"
            and (subject.lower_ in ("i", "we", "they") or any(map(_emphatic, helpers)))
        )
    ):
        return None
    modals = {child.lower_ for child in helpers if child.tag_ == "MD"}
    if frame == "want" and token.lemma_ in ("like", "love"):
        if not modals & {"would", "'d", "’d"}:
            verb, frame = token, ""
        modals -= {"would", "'d", "’d"}
    if modals & _UNREAL:
        return None
    negated = any(
        child.dep_ == "neg" or _no_longer(child)
        for child in (*token.children, *(verb.children if verb != token else ()))
    )
    if modals & {"can", "ca"}:
        frame = frame or "can"
        if token.lemma_ == "stand" and negated:
            negated = False
        elif token.lemma_ == "stand":
            return None
    owning = subject is None and token.lower_ == "got" and not helpers
    tense = Tense.PRESENT if owning else _tense(token, finite, helpers, frame)
    return Clause(subject, verb, finite, frame, tense, negated, _hedged(token))


def _emphatic(helper: Token) -> bool:
    """Whether "do" only stresses what is said: "I do have a dog"."""
    return helper.lower_ in ("do", "does") and not any(
        child.dep_ == "neg" for child in helper.head.children
    )


def _subject(verb: Token) -> Token | None:
    """The subject, its own or, for a verb joined by "and", that of the verb it is joined to."""
    own = [child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")]
    if own:
        return own[-1]
    if (
        before := next(
            (token for token in verb.doc[: verb.i] if misattached_verb(token) == verb), None
        )
    ) is not None:
        return before
    if (
        verb.dep_ == "conj"
        and verb.head.pos_ in _VERBS
        and not any(child.dep_ == "expl" for child in verb.children)
        and verb.tag_ in ("VBP", "VBZ", "VBD")
    ):
        return _subject(verb.head)
    return None


def misattached_verb(noun: Token) -> Token | None:
    """The verb of which a noun is the subject though it was read as joined to one before.

    "my son is a baker and my daughter is a vet".

    Nothing stands between the two but adverbs; what shares the subject of a verb before is joined
    to it by "and", or parted from it by a comma.
    """
    if noun.dep_ != "conj" or noun.pos_ not in ("NOUN", "PROPN"):
        return None
    following = next(
        (
            token
            for token in noun.doc[noun.right_edge.i + 1 :]
            if token.pos_ not in ("ADV", "PART", "INTJ")
        ),
        None,
    )
    if (
        following is None
        or following.tag_ not in ("VBZ", "VBP", "VBD", "MD")
        or following.sent != noun.sent
    ):
        return None
    verb = following.head if following.dep_ in ("aux", "auxpass") else following
    return (
        None
        if any(child.dep_ in ("nsubj", "nsubjpass", "expl") for child in verb.children)
        else verb
    )


def _elliptic(verb: Token) -> bool:
    """Whether a sentence begins with its verb and tells of the speaker.

    "Just moved to Lyon", "Been living here", "Love spicy food".
    """
    if verb.dep_ != "ROOT" or any(
        child.dep_ in ("agent", "csubj", "expl", "nsubj", "nsubjpass") for child in verb.children
    ):
        return False
    before = [token for token in verb.sent if token.i < verb.i and token.head != verb] + [
        child for child in verb.lefts if child.dep_ not in ("aux", "auxpass", "neg")
    ]
    if any(token.pos_ not in _OPENINGS or token.lower_ in _HEDGES for token in before) or any(
        child.dep_ == "aux" and child.lower_ != "been" for child in verb.children
    ):
        return False
    if verb.tag_ in ("VB", "VBP") and verb.lemma_.lower() not in _LEFT_ALONE:
        return False
    if verb.tag_ not in ("VB", "VBP", "VBD", "VBN", "VBG") or (
        verb.lemma_.lower() == "be" and verb.tag_ != "VBN"
    ):
        return False
    spoken_of = [token for token in verb.doc[: verb.i] if token.dep_ in ("nsubj", "nsubjpass")]
    return not spoken_of or spoken_of[-1].lower_ in ("i", "we", "you")


def _inner(verb: Token) -> tuple[Token, str]:
    """The verb that carries the meaning and what governs it.

    "I'm going to visit" → visit, "plan".
    """
    if verb.lemma_ in _FRAMES:
        for child in verb.children:
            infinitive = (
                child.dep_ == "xcomp"
                and child.tag_ == "VB"
                and any(part.tag_ == "TO" for part in child.children)
            )
            if infinitive and _governs(verb):
                return child, _FRAMES[verb.lemma_]
    for child in verb.children:
        if (
            child.dep_ == "xcomp"
            and verb.lemma_ in _PHASES
            and (child.tag_ == "VBG" or any(part.tag_ == "TO" for part in child.children))
        ):
            return child, "start"
        if child.dep_ == "prep" and (verb.lemma_, child.lower_) in _AIMING:
            aim = next(
                (part for part in child.children if part.dep_ == "pcomp" and part.tag_ == "VBG"),
                None,
            )
            if aim is not None:
                return aim, "want"
    return verb, ""


def _governs(verb: Token) -> bool:
    """Whether a verb with "to" is of its frame in this form.

    "going to", "used to" and "have got to", but not "go to", "use to" and "got to".
    """
    match verb.lemma_:
        case "go":
            return verb.tag_ == "VBG"
        case "use":
            return verb.tag_ == "VBD"
        case "get":
            return any(child.dep_ == "aux" and child.lemma_ == "have" for child in verb.children)
        case _:
            return True


def _tense(verb: Token, finite: Token, helpers: list[Token], frame: str) -> Tense:
    if any(child.lower_ in ("will", "'ll", "’ll", "wo") for child in helpers):
        return Tense.FUTURE
    if (
        frame == "used"
        or finite.tag_ == "VBD"
        or finite.lower_ == "quit"
        or (finite.lower_ in ("was", "were", "did", "had"))
    ):
        return Tense.PAST
    if (
        finite != verb
        and finite.lemma_ == "have"
        and verb.tag_ in ("VBN", "VBD")
        and verb.lower_ not in ("been", "got")
    ):
        lasting = verb.lemma_ in _LASTING and any(
            child.lower_ in ("for", "since") for child in verb.children if child.dep_ == "prep"
        )
        return Tense.PRESENT if lasting else Tense.PAST
    if finite == verb and verb.tag_ == "VBN":
        return Tense.PAST
    return Tense.FUTURE if frame == "plan" else Tense.PRESENT


def _asserted(verb: Token) -> bool:
    """Whether the speaker stands by the clause, as far as its place in the sentence tells."""
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
            return head.pos_ not in _VERBS or (
                head.dep_ not in ("relcl", "xcomp", "acl", "pcomp") and _asserted(head)
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
                return _asserted(head)
            first = any(
                child.dep_ == "nsubj" and child.lower_ in ("i", "we") for child in head.children
            )
            if head.lemma_ in _DOUBTING and head.tag_ == "VBD":
                return False
            return (
                head.lemma_ in _BELIEVING
                and first
                and not any(child.dep_ == "neg" for child in head.children)
                and _asserted(head)
            )
        case "advcl":
            return bool(marks) and marks <= _REASONS and _asserted(head)
        case _:
            return False


def _asked(verb: Token, subject: Token | None) -> bool:
    """Whether the clause is a question.

    Inverted, led by a question word, or the last one before a question mark.
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
                and (other.tag_ in ("WP", "WRB") or _inverted(other))
                for other in rest
            )
    return False


def _inverted(token: Token) -> bool:
    return token.dep_ in ("aux", "auxpass") and any(
        child.dep_ in ("nsubj", "nsubjpass") and child.i > token.i for child in token.head.children
    )


def _quoted(verb: Token) -> bool:
    before = verb.doc[: verb.i]
    opened = sum(token.text in ('"', "“", "``") for token in before)
    closed = sum(token.text in ("”", "''") for token in before)
    return (opened - closed) % 2 == 1


def _hedged(verb: Token) -> bool:
    if any(child.lower_ in _HEDGES for child in _before(verb)):
        return True
    head = verb.head
    return verb.dep_ == "ccomp" and verb.i > head.i and head.lemma_ in _DOUBTING


def _no_longer(token: Token) -> bool:
    return token.lower_ == "longer" and any(child.lower_ == "no" for child in token.children)


def _before(verb: Token) -> Iterator[Token]:
    yield from (child for child in verb.children if child.dep_ in ("advmod", "aux"))
    if verb.dep_ == "xcomp":
        yield from (child for child in verb.head.children if child.dep_ in ("advmod", "aux"))
