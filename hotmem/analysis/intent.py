"""What an utterance is after, how much it asks, and whether memory can help at all."""

import re
from typing import Final

from spacy.tokens import Doc

from hotmem.types import Complexity, Intent

_CUES: Final[tuple[tuple[Intent, re.Pattern[str]], ...]] = tuple(
    (intent, re.compile(rf"(?:{cues})", re.IGNORECASE))
    for intent, cues in (
        (
            Intent.INSTRUCTION,
            r"^\W*(?:(?:hey|ok|okay|please|so|and|oh|also|can you|could you|would you|will you)[,\s]+)*"
            r"(?:remember (?:that|this|to|my|when i)|don'?t forget|forget (?:that|this|it|about|what|everything|my)|note (?:that|down)|make a note|write down|"
            r"remind me (?:to|about|that|on|at|in|when)|delete|erase|keep in mind|save (?:that|this)|store (?:that|this))\b",
        ),
        (
            Intent.SUMMARY,
            r"\bsummar(?:y|ise|ize)\b|\brecap\b|\bcatch me up\b|\boverview\b|\bbring me up to speed\b"
            r"|\bwhat (?:did|have|had|were|do) (?:we|you and i) (?:\w+ )?(?:talk|talked|talking|discuss|discussed|discussing|chat|chatted|cover|covered|speak|spoke)\w*\b"
            r"(?! about (?:the|my|your|her|his)\b)|\bwhat (?:was|were) (?:our|the) (?:last|previous) (?:\w+ )?(?:conversation|session|chat|talk)s?\b|\bwhere (?:did|were) we (?:leave|stop)\b",
        ),
        (
            Intent.PATTERN,
            r"\bhow often\b|\bhow many times\b|\bevery time\b|\b(?:do|have|am|did) i (?:always|keep|usually|often|ever stop|tend)\b|\ba lot,? (?:haven'?t|don'?t|isn'?t|aren'?t)\b"
            r"|\bpatterns?\b|\bhabits?\b|\btend(?:s)? to\b|\bkeep(?:s)? \w+ing\b|\bover (?:the )?(?:last|past) (?:few )?(?:sessions|conversations|weeks|months)\b",
        ),
        (
            Intent.RELATION,
            r"\brelationship between\b|\brelated to\b|\bin common\b|\bconnect(?:ed|ion)\b|\bdifferen(?:ce|t) (?:between|from)\b"
            r"|\bhow (?:do|does|did) \w+(?: \w+)? (?:and \w+ )?(?:know|meet)\b|\bcompare[ds]?\b|\bboth\b",
        ),
        (
            Intent.REFERENCE,
            r"\bdid (?:i|you|we|he|she|they|[A-Z]\w+) (?:\w+ )?(?:say|tell|mention|call|promise|ask|recommend|suggest)\b|\b(?:you|i|we|she|he) (?:said|told|mentioned|talked|were saying|recommended|suggested)\b"
            r"|\bremember (?:when|what|that|the|my|how|me)\b|\bexact(?:ly)? (?:words|what)\b|\bquote\b|\bword for word\b|\bhave i (?:told|mentioned)\b|\bagain\s*\?",
        ),
        (
            Intent.TIME,
            r"\bwhen\b(?! i\b.*, )|\bwhat (?:day|date|time|year|month)\b|\bhow long\b|\bsince when\b|\bhow old\b|\bwhich (?:day|year|month|week)\b|\bhow (?:recently|soon)\b",
        ),
    )
)

_PHATIC: Final = re.compile(
    r"\b(?:(?:oh |well |hey )?(?:hi|hello|hey|hiya|howdy|greetings|yo)(?: there| again| you)?|good (?:morning|afternoon|evening|night|day)|morning|evening|"
    r"thank you(?: so much| very much| a lot)?|thanks(?: so much| a lot| a bunch| again)?|cheers|much appreciated|you'?re welcome|no problem|no worries|my pleasure|"
    r"(?:good)?bye(?: bye| now| for now)?|good ?night|see (?:you|ya)(?: later| soon| around| tomorrow| then)?|talk to you (?:later|soon|tomorrow)|take care|have a (?:good|nice|great) (?:one|day|night|evening|weekend|time)|"
    r"sleep well|later|catch you later|until next time|"
    r"yes(?: please| sir| indeed)?|yeah|yep|yup|no(?: thanks| thank you)?|nope|nah|ok(?:ay)?|alright|all right|sure(?: thing)?|right|exactly|absolutely|definitely|of course|totally|indeed|agreed|got it|i see|gotcha|makes sense|fair enough|"
    r"i (?:know|agree|guess(?: so)?|think so|hope so|suppose so|understand)|"
    r"how (?:are|'re) (?:you|things)(?: doing| going| today| feeling)*|how(?:'s| is) it going|how do you do|what'?s up|how have you been|how(?:'s| is) your day(?: going| been)?|nice to (?:meet|see|talk to) you|"
    r"and you|you too|same here|same to you|me too|"
    r"(?:that'?s|it'?s|that is|that sounds|sounds|how|so|very|really) (?:great|good|nice|cool|awesome|amazing|wonderful|lovely|fine|perfect|funny|true|right|interesting|fantastic|sweet|sad|bad|too bad|okay|ok)|"
    r"great|good|nice|cool|awesome|amazing|wonderful|lovely|fine|perfect|excellent|brilliant|fantastic|interesting|funny|wow|"
    r"(?:i'?m|i am|doing|feeling) (?:good|fine|okay|ok|great|well|alright|not bad)|not (?:bad|much|really)|pretty good|all good|"
    r"ha(?:ha)+|lol|hmm+|mm+|mhm|uh huh|uh|um|er|erm|ah|oh|aw+|please|sorry|excuse me|pardon|never ?mind|go on|go ahead|wait|hold on|one (?:moment|second)|just a (?:moment|second|minute)|"
    r"can you hear me|are you there|testing|bless you|congratulations|congrats)(?!['’]\w|\w)",
    re.IGNORECASE,
)
_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "NUM", "ADJ"})
_FILLER: Final = frozenset("so well then too very much really just now today all again there everyone everybody guys buddy friend mate man dude bot assistant hotmem".split())
_QUESTION: Final = re.compile(r"\?|\b(?:what|who|whose|whom|where|when|why|which|how)\b|^\W*(?:do|does|did|is|are|was|were|can|could|have|has|had|will|would|should)\b", re.IGNORECASE)
_HARD: Final = re.compile(r"\b(?:why|how come|would|might|likely|compare|all (?:the|my|of)|list|every|everything|both|which of|how many|overall|in total|in order|most|least)\b", re.IGNORECASE)
_FAR: Final = frozenset({Intent.SUMMARY, Intent.PATTERN, Intent.RELATION})


def find_intent(doc: Doc, *, timed: bool) -> Intent:
    """What an utterance asks for; chit-chat only when nothing of substance is left once its courtesies are taken away.

    Args:
        doc: The parsed utterance.
        timed: Whether it names a time; a question that does asks about that time.
    """
    if is_chitchat(doc):
        return Intent.CHITCHAT
    for intent, cue in _CUES:
        if cue.search(doc.text) and (intent is not Intent.TIME or is_question(doc)):
            return intent
    return Intent.TIME if timed and is_question(doc) else Intent.FACT


def is_chitchat(doc: Doc) -> bool:
    """Whether an utterance is only greeting, thanks, farewell, assent or filler, or holds no word at all."""
    spans = [match.span() for match in _PHATIC.finditer(doc.text)]
    vocative = bool(spans) and len(doc) <= 6
    for token in doc:
        if token.pos_ not in _CONTENT and token.tag_ not in ("WP", "WP$", "WRB", "WDT") and token.lower_ not in ("who", "what", "where", "when", "why", "how"):
            if token.lower_ in ("i", "my", "me", "mine") and not _inside(token.idx, spans):
                return False
            continue
        if _inside(token.idx, spans) or token.lower_ in _FILLER or not any(map(str.isalnum, token.text)):
            continue
        if vocative and token.pos_ == "PROPN" and token.dep_ in ("npadvmod", "ROOT", "appos", "dobj", "nsubj", "compound", "intj") and "?" not in doc.text:
            continue
        return False
    return bool(spans) or not any(token.is_alpha or token.like_num for token in doc)


def is_question(doc: Doc) -> bool:
    """Whether an utterance asks something, with or without its question mark."""
    return bool(_QUESTION.search(doc.text))


def find_complexity(doc: Doc, intent: Intent, *, entities: int, timed: bool, ambiguous: bool) -> Complexity:
    """How much of the memory an utterance needs: high for what spans sessions or compares, low for one plain thing."""
    verbs = sum(token.pos_ == "VERB" for token in doc)
    if intent in _FAR or _HARD.search(doc.text) or (entities > 1 and verbs > 2):
        return Complexity.HIGH
    if timed or ambiguous or entities > 1 or intent in (Intent.TIME, Intent.REFERENCE) or len(doc) > 14:
        return Complexity.MEDIUM
    return Complexity.LOW


def _inside(index: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= index < stop for start, stop in spans)
