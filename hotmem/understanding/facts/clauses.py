"""Asserted clauses of an utterance: subject, verb, tense, polarity and hedging."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.assertion import (
    HEDGES,
    VERB_TAGS,
    is_asserted,
    is_hedged,
    is_question,
    is_quoted,
)


class Tense(StrEnum):
    """The time that a clause refers to."""

    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Clause:
    """An asserted clause.

    Attributes:
        subject: Head of the subject; None if the speaker drops "I" ("Just moved to Lyon").
        verb: The lexical verb ("visit" in "I'm going to visit").
        finite: The verb that agrees with the subject ("'m").
        frame: What the governing verb expresses: "", "want", "plan", "must", "used", "can" or
            "start".
        tense: The time that it refers to.
        negated: Whether it is negated, or no longer true.
        hedged: Whether it is expressed with doubt.
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
        """Whether it contains "any more" or "no longer"."""
        return self.negated and any(
            child.lower_ in _NO_LONGER_WORDS
            for child in (*self.verb.children, *self.finite.children)
        )

    @property
    def copular(self) -> bool:
        """Whether its verb is "be", also as speech recognisers write it ("im sure")."""
        return self.verb.lemma_ == "be" or self.verb.lower_ == "m"


_FRAMES: Final = {
    "want": "want",
    "wish": "",
    "hope": "want",
    "like": "want",
    "love": "want",
    "plan": "plan",
    "intend": "plan",
    "need": "must",
    "have": "must",
    "get": "must",
    "use": "used",
    "go": "plan",
    "decide": "plan",
    "look": "want",
    "aim": "plan",
    "prepare": "plan",
}
"""Verbs that govern an infinitive, and the frame they give it."""

_PHASE_VERBS: Final = frozenset({"start", "begin", "end"})
"""Verbs that govern what began or ended: "started working at Bosch", "ended up moving to Lyon"."""

_INTENTION_VERBS: Final = frozenset(
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
"""Verbs and prepositions that govern an intended action as a gerund."""

_UNREAL_MODALS: Final = frozenset(
    {"would", "'d", "’d", "could", "should", "might", "may", "must", "ought"}
)
_NO_LONGER_WORDS: Final = frozenset({"more", "anymore", "longer"})
_ALMOST: Final = frozenset({"almost", "nearly"})
_STATE_VERBS: Final = frozenset({"live", "work", "own", "know", "have", "play", "study", "love"})
"""Verbs whose perfect with "for" or "since" still holds."""

_OPENING_POS: Final = frozenset({"ADV", "INTJ", "PUNCT", "CCONJ", "PART", "SPACE"})
"""Parts of speech that may precede a verb whose subject is dropped."""

_ELLIPTIC_VERBS: Final = frozenset(
    {"love", "like", "hate", "enjoy", "prefer", "live", "work", "study", "own", "have", "teach"}
)
"""Verbs whose base form without a subject is a statement ("Love spicy food") and no request."""


def read_clauses(doc: Doc) -> tuple[Clause, ...]:
    """Return the asserted clauses of an utterance, in order.

    Questions, conditions, wishes, quotations and hearsay are left out.
    """
    return tuple(clause for token in doc if (clause := _clause(token)) is not None)


def _clause(token: Token) -> Clause | None:
    if (
        token.pos_ not in VERB_TAGS
        or any(child.lower_ in _ALMOST for child in token.lefts)
        or token.dep_ in ("aux", "auxpass", "xcomp", "amod", "compound", "acl", "csubj", "pcomp")
    ):
        return None
    subject = _subject(token)
    if (
        (subject is None and not drops_subject(token))
        or not is_asserted(token)
        or is_question(token, subject)
        or is_quoted(token)
    ):
        return None
    verb, frame = _main_verb(token)
    helpers = [child for child in token.children if child.dep_ in ("aux", "auxpass")]
    if not helpers and token.dep_ == "conj":
        helpers = [
            child for child in token.head.children if child.dep_ == "aux" and child.tag_ == "MD"
        ]
    finite = next(
        (child for child in helpers if child.head == token and not _is_emphatic_do(child)), token
    )
    if (
        subject is not None
        and finite == token
        and token.tag_ in ("VB", "VBG", "VBN")
        and token.dep_ != "conj"
        and not (
            token.tag_ == "VB"
            and (subject.lower_ in ("i", "we", "they") or any(map(_is_emphatic_do, helpers)))
        )
    ):
        return None
    modals = {child.lower_ for child in helpers if child.tag_ == "MD"}
    if frame == "want" and token.lemma_ in ("like", "love"):
        if not modals & {"would", "'d", "’d"}:
            verb, frame = token, ""
        modals -= {"would", "'d", "’d"}
    if modals & _UNREAL_MODALS:
        return None
    negated = any(
        child.dep_ == "neg" or _is_no_longer(child)
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
    return Clause(subject, verb, finite, frame, tense, negated, is_hedged(token))


def _is_emphatic_do(helper: Token) -> bool:
    """Whether "do" is only emphatic: "I do have a dog"."""
    return helper.lower_ in ("do", "does") and not any(
        child.dep_ == "neg" for child in helper.head.children
    )


def _subject(verb: Token) -> Token | None:
    """Return the verb's own subject, or the one it shares with the verb it is coordinated with."""
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
        and verb.head.pos_ in VERB_TAGS
        and not any(child.dep_ == "expl" for child in verb.children)
        and verb.tag_ in ("VBP", "VBZ", "VBD")
    ):
        return _subject(verb.head)
    return None


def misattached_verb(noun: Token) -> Token | None:
    """Return the verb that a noun is the subject of, though it was parsed as a conjunct.

    In "my son is a baker and my daughter is a vet" the parser may attach "daughter" to "baker".
    Only adverbs stand between the noun and its verb.
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


def drops_subject(verb: Token) -> bool:
    """Whether a sentence begins with a verb whose dropped subject is the speaker.

    "Just moved to Lyon", "Been living here", "Love spicy food".
    """
    if verb.dep_ != "ROOT" or any(
        child.dep_ in ("agent", "csubj", "expl", "nsubj", "nsubjpass") for child in verb.children
    ):
        return False
    before = [token for token in verb.sent if token.i < verb.i and token.head != verb] + [
        child for child in verb.lefts if child.dep_ not in ("aux", "auxpass", "neg")
    ]
    if any(token.pos_ not in _OPENING_POS or token.lower_ in HEDGES for token in before) or any(
        child.dep_ == "aux" and child.lower_ != "been" for child in verb.children
    ):
        return False
    if verb.tag_ in ("VB", "VBP") and verb.lemma_.lower() not in _ELLIPTIC_VERBS:
        return False
    if verb.tag_ not in ("VB", "VBP", "VBD", "VBN", "VBG") or (
        verb.lemma_.lower() == "be" and verb.tag_ != "VBN"
    ):
        return False
    spoken_of = [token for token in verb.doc[: verb.i] if token.dep_ in ("nsubj", "nsubjpass")]
    return not spoken_of or spoken_of[-1].lower_ in ("i", "we", "you")


def _main_verb(verb: Token) -> tuple[Token, str]:
    """Return the lexical verb and the frame around it: "I'm going to visit" → visit, "plan"."""
    if verb.lemma_ in _FRAMES:
        for child in verb.children:
            infinitive = (
                child.dep_ == "xcomp"
                and child.tag_ == "VB"
                and any(part.tag_ == "TO" for part in child.children)
            )
            if infinitive and _licenses_infinitive(verb):
                return child, _FRAMES[verb.lemma_]
    for child in verb.children:
        if (
            child.dep_ == "xcomp"
            and verb.lemma_ in _PHASE_VERBS
            and (child.tag_ == "VBG" or any(part.tag_ == "TO" for part in child.children))
        ):
            return child, "start"
        if child.dep_ == "prep" and (verb.lemma_, child.lower_) in _INTENTION_VERBS:
            aim = next(
                (part for part in child.children if part.dep_ == "pcomp" and part.tag_ == "VBG"),
                None,
            )
            if aim is not None:
                return aim, "want"
    return verb, ""


def _licenses_infinitive(verb: Token) -> bool:
    """Whether the verb has its frame in this form: "going to" and "used to", but not "go to"."""
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
        lasting = verb.lemma_ in _STATE_VERBS and any(
            child.lower_ in ("for", "since") for child in verb.children if child.dep_ == "prep"
        )
        return Tense.PRESENT if lasting else Tense.PAST
    if finite == verb and verb.tag_ == "VBN":
        return Tense.PAST
    return Tense.FUTURE if frame == "plan" else Tense.PRESENT


def _is_no_longer(token: Token) -> bool:
    return token.lower_ == "longer" and any(child.lower_ == "no" for child in token.children)
