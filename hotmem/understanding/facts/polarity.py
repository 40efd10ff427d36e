"""Whether an answer affirms or denies what was asked, and what it says besides."""

from collections.abc import Sequence
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.parse import Doc, Span, Token
from hotmem.understanding.facts.assertion import VERB_TAGS
from hotmem.understanding.facts.spelled_codes import opens_code

_YES: Final = wordlist("yes yeah yep yup aye yea sure correct exactly indeed absolutely definitely")
_NO: Final = wordlist("no nope nah never not none nothing")
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl"})
_AUXILIARIES: Final = frozenset({"aux", "auxpass"})
_PRO_VERBS: Final = frozenset({"do", "be", "have", "can", "will", "would", "could"})


def polarity_of(said: Sequence[Token]) -> tuple[bool | None, list[Token]]:
    """Whether an answer affirms (True), denies (False) or does neither; and what else it says."""
    rest = list(said)
    while rest and (
        rest[0].is_punct
        or (rest[0].pos_ == "INTJ" and not _polar(rest[0]) and not opens_code(rest[0]))
    ):
        del rest[0]
    polarity: bool | None = None
    while rest and (rest[0].is_punct or _polar(rest[0])):
        first = rest.pop(0)
        if _polar(first) and polarity is None:
            polarity = first.lower_ in _YES
    if rest and _is_pro_verb(verb := rest[0].sent.root) and verb in rest:
        polarity = not any(one.dep_ == "neg" for one in verb.children)
        rest = [one for one in rest if one.i > max(verb.i, *(part.i for part in verb.subtree))]
    return polarity, rest


def _polar(token: Token) -> bool:
    """Whether a word affirms or denies by itself: the "no" of "no, thanks", not of "no jokes"."""
    if token.lower_ in _YES:
        return token.pos_ in ("INTJ", "ADV", "NOUN", "PROPN", "ADJ")
    if token.lower_ == "no":
        return (
            token.pos_ == "INTJ"
            or token.head.i < token.i
            or token.head == token
            or (token.doc[token.i + 1 : token.i + 2].text in (",", "."))
        )
    if token.lower_ == "not":
        following = token.doc[token.i + 1 : token.i + 2]
        return (
            not following
            or following[0].lower_ == "any"
            or following[0].pos_ in ("ADV", "ADP", "DET", "SCONJ", "PUNCT", "ADJ")
        )
    return token.lower_ in _NO and token.head.pos_ not in VERB_TAGS


def is_complete(answer: Doc | Span | Sequence[Token]) -> bool:
    """Whether an answer has a subject and a verb of its own, and can stand alone."""
    return any(
        (
            token.dep_ in ("nsubj", "nsubjpass")
            and token.head.dep_ not in ("advcl", "relcl", "acl")
            and not _is_pro_verb(token.head)
        )
        or (
            token.tag_ == "VB"
            and token.dep_ == "ROOT"
            and any(not one.is_punct for one in token.rights)
        )
        for token in answer
        if not token.is_punct
    )


def _is_pro_verb(verb: Token) -> bool:
    """Whether a clause only repeats the question's verb: "I do", "she's not"."""
    return (
        verb.pos_ in VERB_TAGS
        and all(
            one.dep_ in (*_SUBJECTS, *_AUXILIARIES, "neg", "punct", "intj") for one in verb.children
        )
        and verb.lemma_ in _PRO_VERBS
    )
