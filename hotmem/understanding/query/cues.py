"""Patterns of the wordings that classify an utterance, and its intent by them."""

import re
from functools import lru_cache
from typing import Final

import numpy as np

from hotmem.models.files import load_shipped
from hotmem.text.word_sets import wordlist
from hotmem.types import Complexity, Intent, Vector
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.query.commands import term_ids
from hotmem.understanding.term_model import TermModel, logistic


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE)


_REQUEST: Final = (
    r"^\W*(?:(?:hey|ok|okay|please|so|and|(?:can|could|would|will) you|let['’]?s)[,\s]+)*"
)

INTENTS: Final[tuple[tuple[Intent, re.Pattern[str]], ...]] = (
    (
        Intent.INSTRUCTION,
        _any_of(
            r"^\W*(?:(?:hey|ok|okay|please|so|and|oh|also|(?:can|could|would|will) you)[,\s]+)*(?:"
            r"remember (?:that|this|to|my|when i)|forget (?:that|this|it|about|what|everything"
            r"|my)|don['’]?t forget|keep in mind|"
            r"remind me (?:to|about|that|on|at|in|when)|note (?:that|down)|make a note|write down"
            r"|delete|erase|(?:save|store) (?:that|this))\b"
        ),
    ),
    (
        Intent.SUMMARY,
        _any_of(
            r"\b(?:summar(?:y|ise|ize)|recap|overview)\b",
            r"\b(?:catch me up|bring me up to speed)\b",
            (
                r"\bwhat (?:did|have|had|were|do) (?:we|you and i) (?:\w+ )?(?:talk|discuss|chat"
                r"|cover|sp[eo]ak)\w*\b(?! about (?:the|my|your)\b)"
            ),
            (
                r"\bwhat (?:was|were) (?:our|the) (?:last|previous) (?:\w+ )?(?:conversation"
                r"|session|chat|talk)s?\b"
            ),
            r"\bwhere (?:did|were) we (?:leave|stop)\b",
        ),
    ),
    (
        Intent.PATTERN,
        _any_of(
            r"\bhow (?:often|many times)\b",
            r"\bevery time\b",
            r"\b(?:do|have|am|did) i (?:always|keep|usually|often|ever stop|tend)\b",
            r"\ba lot,? (?:haven|don|isn|aren)['’]?t\b",
            r"\b(?:patterns?|habits?|tends? to)\b",
            r"\bkeeps? \w+ing\b",
            r"\bover (?:the )?(?:last|past) (?:few )?(?:sessions|conversations|weeks|months)\b",
        ),
    ),
    (
        Intent.SIMILAR,
        _any_of(
            r"\b(?:any|some)thing (?:else )?like\b(?! that\b)",
            r"\b(?:similar to|along the lines of|resembl\w+)\b",
            r"\b(?:more|others?|ones) like (?:it|this|that|these|those|him|her|them)\b",
            r"\b(?:ever|before) .*\b(?:the same|a similar|such a)\b",
        ),
    ),
    (
        Intent.REMIND,
        _any_of(r"\bremind (?:me|us)(?: again)?,? (?:of|what|who|whose|where|which|how|why|if)\b"),
    ),
    (
        Intent.FIND,
        _any_of(
            _REQUEST
            + r"(?:find|look up|look for|search|pull up|dig (?:out|up)|bring up|show) (?!out\b)",
        ),
    ),
    (
        Intent.RELATION,
        _any_of(
            r"\brelationship between\b",
            r"\b(?:related to|in common|compare[ds]?|both)\b",
            r"\bconnect(?:ed|ion)\b",
            r"\bdifferen(?:ce|t) (?:between|from)\b",
            r"\bhow (?:do|does|did) \w+(?: \w+)? (?:and \w+ )?(?:know|meet)\b",
        ),
    ),
    (
        Intent.REFERENCE,
        _any_of(
            r"\bdid \w+ (?:\w+ )?(?:say|tell|mention|call|promise|ask|recommend|suggest)\b",
            (
                r"\b(?:you|i|we|she|he) (?:said|told|mentioned|talked|were saying|recommended"
                r"|suggested)\b"
            ),
            r"\bremember (?:when|what|that|the|my|how|me)\b",
            r"\b(?:exact(?:ly)? (?:words|what)|quote|word for word)\b",
            r"\bhave i (?:told|mentioned)\b",
            r"\bagain\s*\?",
        ),
    ),
    (
        Intent.TIME,
        _any_of(
            r"\bwhen\b(?! i\b.*, )",
            r"\bwhat (?:day|date|time|year|month)\b",
            r"\bwhich (?:day|year|month|week)\b",
            r"\bhow (?:long|old|recently|soon)\b",
            r"\bsince when\b",
        ),
    ),
)
"""The pattern of each intent; the first match decides."""

COURTESIES: Final = _any_of(
    *(
        rf"\b(?:{courtesy})(?!['’]\w|\w)"
        for courtesy in (
            r"(?:oh |well |hey )?(?:hi|hello|hey|hiya|howdy|greetings|yo)(?: there| again| you)?",
            r"good (?:morning|afternoon|evening|night|day)|morning|evening|sleep well",
            (
                r"(?:thank you|thanks)(?: so much| very much| a lot| a bunch"
                r"| again)?(?: for (?:your|the) help| for (?:that|asking|listening))?"
            ),
            r"cheers|much appreciated|you['’]?re welcome|no problem|no worries|my pleasure",
            (
                r"(?:good)?bye(?: bye| now| for now)?|good ?night|see (?:you|ya)(?: later| soon"
                r"| around| tomorrow| then)?"
            ),
            r"talk to you (?:later|soon|tomorrow)|take care|later|catch you later|until next time",
            r"have a (?:good|nice|great) (?:one|day|night|evening|weekend|time)",
            (
                r"yes(?: please| sir| indeed)?|yeah|yep|yup|no(?: thanks| thank you)?|nope|nah"
                r"|ok(?:ay)?|alright|all right"
            ),
            (
                r"sure(?: thing)?|right|exactly|absolutely|definitely|of course|totally|indeed"
                r"|agreed|got it|i see|gotcha|makes sense|fair enough"
            ),
            r"i (?:know|agree|guess(?: so)?|think so|hope so|suppose so|understand)",
            (
                r"how (?:are|['’]re) (?:you|things)(?: doing| going| today| feeling)*|how(?:['’]s"
                r"| is) it going|how do you do|what['’]?s up"
            ),
            r"how have you been|how(?:['’]s| is) your day(?: going| been)?",
            r"and you|you too|same here|same to you|me too",
            (
                r"(?:i['’]?m|i am|doing|feeling) (?:good|fine|okay|ok|great|well|alright|not bad)"
                r"|not (?:bad|much|really)|pretty good|all good"
            ),
            (
                r"ha(?:ha)+|lol|hmm+|mm+|mhm|uh huh|uh|um|er|erm|ah|oh|aw+|please|sorry|excuse me"
                r"|pardon|never ?mind|congrat(?:ulation)?s|bless you"
            ),
            (
                r"go on|go ahead|wait|hold on|one (?:moment|second)|just a (?:moment|second"
                r"|minute)|can you hear me|are you there|testing"
            ),
        )
    )
)
"""Greetings, thanks, farewells, assent and filler."""

QUESTION: Final = _any_of(
    r"\?",
    r"\b(?:what|who|whose|whom|where|when|why|which|how)(?:s|re)?\b",
    r"^\W*(?:(?:um|uh|er|erm|so|and|well|hey|ok|okay|please|oh|right)\b\W*)*"
    r"(?:do|does|did|am|is|are|was|were|can|could|have|has|had|will|would|should"
    r"|any(?:thing|one|body|where)?)\b",
)

DIRECT_QUESTION: Final = _any_of(
    r"\?\s*$",
    r"^(?:\W*(?:so|and|hey|well|um|uh)\b)*\W*(?:(?:did|do|does|is|are|was|were|have|has|had"
    r"|can|could|shall|should|will|would|isn['’]t|didn['’]t)\s+"
    r"(?:i|we|you|he|she|it|they|the|my|our|mum|dad|there)\b|(?:who|whose|what|when|where|which"
    r"|why|how)\b)",
)
"""A question, with or without a question mark, that states nothing.

`QUESTION` is broader: it also matches "I was there when it rained", which memory may help with.
"""

COMPLEX: Final = _any_of(
    r"\b(?:why|how come|would|might|likely|compare|list|every|everything|both|which of"
    r"|how many|overall|in total|in order|most|least)\b",
    r"\ball (?:the|my|of)\b",
)
"""Questions that need several facts or a conclusion."""


LONG_UTTERANCE: Final = 14
"""Number of tokens above which an utterance is at least of medium complexity."""

_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "NUM", "ADJ"})
_QUESTION_WORDS: Final = wordlist("who whose what which where when why how")
_SELF: Final = wordlist("i my me mine")
_FILLER: Final = wordlist(
    "so well then too very much really just now today all again there everyone everybody guys "
    "buddy friend mate man dude bot assistant hotmem"
)
_HIGH_COMPLEXITY: Final = frozenset({Intent.SUMMARY, Intent.PATTERN, Intent.RELATION})


def find_intent(doc: Doc, *, timed: bool) -> Intent:
    """Classify the intent of an utterance.

    Args:
        doc: The parsed utterance.
        timed: Whether it mentions a time, which makes a question one of time.
    """
    if is_chitchat(doc):
        return Intent.CHITCHAT
    text = doc.text
    for intent, cue in INTENTS:
        if cue.search(text) and (intent is not Intent.TIME or is_question(doc)):
            return intent
    return Intent.TIME if timed and is_question(doc) else Intent.FACT


def is_chitchat(doc: Doc) -> bool:
    """Whether an utterance has only courtesies and filler, or no word at all."""
    spans = [match.span() for match in COURTESIES.finditer(doc.text)]
    rest = [
        token
        for token in doc
        if token.text.strip() and not any(start <= token.idx < stop for start, stop in spans)
    ]
    if not spans:
        return not any(character.isalnum() for token in rest for character in token.text)
    addressed = len(doc) <= 6 and not any(token.text == "?" for token in doc)
    return not any(_has_content(token, addressed=addressed) for token in rest)


def is_question(doc: Doc) -> bool:
    """Whether an utterance is a question, with or without a question mark."""
    return bool(QUESTION.search(doc.text))


def find_complexity(
    doc: Doc, intent: Intent, *, entities: int, timed: bool, ambiguous: bool
) -> Complexity:
    """Classify how much of the memory an utterance needs.

    High if it spans sessions or compares, low if it asks for a single fact.
    """
    verbs = sum(token.pos_ == "VERB" for token in doc)
    if intent in _HIGH_COMPLEXITY or COMPLEX.search(doc.text) or (entities > 1 and verbs > 2):
        return Complexity.HIGH
    if (
        timed
        or ambiguous
        or entities > 1
        or intent in (Intent.TIME, Intent.REFERENCE)
        or len(doc) > LONG_UTTERANCE
    ):
        return Complexity.MEDIUM
    return Complexity.LOW


def _has_content(token: Token, *, addressed: bool) -> bool:
    """Whether a word outside the courtesies is content; a name used to address someone is not."""
    if token.lower_ in _SELF or token.lower_ in _QUESTION_WORDS:
        return True
    if token.lower_ in _FILLER or token.pos_ not in _CONTENT:
        return False
    return not (
        addressed and token.pos_ == "PROPN" and token.dep_ not in ("attr", "poss", "pobj", "acomp")
    )


MIN_NEED: Final = 0.1
"""Probability from which memory is asked. Little: what is not asked cannot be answered, what is
asked for nothing costs some tokens (`python -m eval need`)."""


@lru_cache(maxsize=1)
def load_model() -> tuple[TermModel, Vector]:
    """The shipped model of the words, and the weights of the embedding, loaded once."""
    tensors = load_shipped("needs-1.npz")
    return TermModel.of(tensors, "need"), tensors["need_vector"].astype(np.float32)


def need(text: str, vector: Vector) -> float:
    """The probability that memory helps with an utterance.

    Args:
        text: The utterance.
        vector: Its embedding by the encoder that the model was trained on, a unit row.

    Returns:
        The probability, 0 to 1. It is 1 for a script other than Latin, which the model cannot read.
    """
    if any(one > "\u024f" and not "\u2010" <= one <= "\u2027" for one in text):
        return 1.0
    model, weights = load_model()
    return logistic(model.logit(term_ids(text)) + float(weights @ vector))
