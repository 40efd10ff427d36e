"""Whether a clause is asserted: neither a question, a quotation, a condition nor hearsay."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.spelled_codes import opens_code

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


_JOKE_REMARK: Final = re.compile(
    r"(?:\b(?:ha)+h?\b[\s,.!]*)*\b(?:(?:i['’]?m|i\s+am|(?:i\s+)?was)\s+)?(?:(?:just"
    r"|only)\s+)?(?:kidding|joking|messing\s+with\s+you|pulling\s+your\s+leg)\b"
    r"|\b(?:that|it|this)(?:['’]s|\s+(?:is|was))\s+(?:just\s+|only\s+)?a\s+joke\b"
    r"|\bjust\s+a\s+joke\b|(?<=,)\s*not\s+really\s*(?=[.!]|$)",
    re.IGNORECASE,
)
_LAUGHTER: Final = re.compile(r"\b(?:a?(?:ha){2,}h?|(?:he){2,}|lo+l|lmao)\b", re.IGNORECASE)
_DENIED: Final = re.compile(r"(?:\bnot|n['’]t|\bno)\s*$", re.IGNORECASE)
_REMARK_OPENING: Final = re.compile(
    r"^(?:\W*(?:no|nah|well|okay|ok|hey|sorry|don['’]?t believe that(?: one)?|(?:i"
    r"|we) (?:didn['’]?t|don['’]?t|haven['’]?t))\b)*\W*$",
    re.IGNORECASE,
)
"""Words that may precede a remark about the previous turn."""

_CONTINUATION: Final = re.compile(r"\s*,[^.!?]*")
"""The rest of the sentence after a remark that opens a turn, which may be the next joke."""

_SENTENCE_END: Final = re.compile(r"[.!?]+\s*")


_DENIED_AT_ONCE: Final = re.compile(
    r"\w\W{1,9}no,? (?:i|s?he|it|we|they)(?:['’]m not| \w+ not| \w+n['’]t)\b|(?:n['’]t|\bnot)\b"
    r".{,200}?\b(?:yes|well),? (?:i|s?he|it|we|they) (?:am|is|are|do|does|did|have|has)\b",
    re.IGNORECASE,
)


def is_denied_at_once(text: str) -> bool:
    """Whether an utterance denies what it has just said: "he left me, no he didn't"."""
    return _DENIED_AT_ONCE.search(text) is not None


def retracts_previous_turn(text: str) -> bool:
    """Whether an utterance begins by calling the previous turn a joke."""
    match = _JOKE_REMARK.search(text)
    return match is not None and bool(_REMARK_OPENING.match(text[: match.start()]))


def has_laughter(text: str) -> bool:
    """Whether somebody laughs in a text: "haha"."""
    return _LAUGHTER.search(text) is not None


def joke_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the character spans that the speaker calls a joke.

    A span is the sentence up to the remark, or the sentence before it.
    """
    for match in _JOKE_REMARK.finditer(text):
        if _DENIED.search(text[: match.start()]):
            continue
        starts = [
            0,
            *(end.end() for end in _SENTENCE_END.finditer(text) if end.end() <= match.start()),
        ]
        own = starts[-1]
        if not re.search(r"\w", text[own : match.start()]) and len(starts) > 1:
            own = starts[-2]
        yield own, match.start()
        if _REMARK_OPENING.match(text[: match.start()]) and (
            goes_on := _CONTINUATION.match(text, match.end())
        ):
            yield goes_on.span()


_OPENING_POS: Final = frozenset({"ADV", "INTJ", "PUNCT", "CCONJ", "PART", "SPACE"})
"""Parts of speech that may precede a verb whose subject is dropped."""

_ELLIPTIC_VERBS: Final = frozenset(
    {"love", "like", "hate", "enjoy", "prefer", "live", "work", "study", "own", "have", "teach"}
)
"""Verbs whose base form without a subject is a statement ("Love spicy food") and no request."""


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
