"""Patterns of the wordings that classify an utterance, one alternative per line."""

import re
from typing import Final

from hotmem.types import Intent
from hotmem.understanding.query.small_talk import (
    ABOUT_THE_BOT,
    EXCLAMATIONS,
    ORDERS,
    PRAISE,
    REMARKS,
    TO_A_FRIEND,
)


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
            *REMARKS,
            *EXCLAMATIONS,
            *ORDERS,
            TO_A_FRIEND,
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
            PRAISE,
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
"""Greetings, thanks, farewells, assent, small talk and filler."""

_PLEASE: Final = (
    r"^\W*(?:(?:hey|ok|okay|please|so|and|now|then|just|(?:can|could|would|will) you)[,\s]+)*"
)
_NOW: Final = (
    r"(?:[\s,]+(?:please|now|right now|today|tonight|tomorrow|outside|currently|all the way"
    r"|a (?:bit|little|notch)|(?:in|at) \w+))*\W*$"
)
_PLAYING: Final = (
    r"(?:music|song|track|video|playback|radio|podcast|movie|tv|television|timer|alarm|recording)"
)

DEVICE_COMMANDS: Final = _any_of(
    _PLEASE + r"(?:turn|switch)\b.*\b(?:on|off|up|down)" + _NOW,
    _PLEASE + r"(?:turn|switch)\s+(?:on|off|up|down)\b",
    _PLEASE + r"(?:dim|brighten|mute|unmute|pause|resume|rewind|skip|shuffle)\b",
    _PLEASE
    + r"(?:set|start|stop|cancel|snooze|extend)\s+(?:(?:a|an|the)\s+)?(?:\S+\s+){0,3}?"
    + _PLAYING
    + r"s?\b",
    _PLEASE
    + (
        r"set\s+the\s+(?:\w+\s+)?(?:volume|temperature|thermostat|lights?|lamps?|heating"
        r"|brightness|oven)\b"
    ),
    _PLEASE
    + (
        r"(?:raise|lower|increase|decrease)\s+the\s+(?:\w+\s+)?(?:volume|temperature|thermostat"
        r"|heating|brightness|blinds|shades)\b"
    ),
    _PLEASE
    + (
        r"(?:open|close|lock|unlock|shut)\s+the\s+(?:\w+\s+)?(?:blinds|curtains|garage|doors?"
        r"|windows?|gate|shades|shutters)\b"
    ),
    _PLEASE + r"play\s+(?:(?:some|the\s+next|the\s+previous|a)\b|" + _PLAYING + r")",
    _PLEASE + r"(?:next|previous)\s+" + _PLAYING + r"\b",
    _PLEASE + r"volume\s+(?:up|down)\b",
)
"""Smart-home and media commands."""

_NUMERAL: Final = (
    r"(?:(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand"
    r"|million|half|and|a)"
)
_NUMBER: Final = rf"(?:[\d.,]+|{_NUMERAL}(?:[- ]{_NUMERAL}){{0,9}})"

GENERAL_QUESTIONS: Final = _any_of(
    *ABOUT_THE_BOT,
    r"^\W*what(?:['’]s| is) the (?:weather|forecast)\b",
    r"^\W*what(?:['’]s| is) the (?:time|temperature)" + _NOW,
    r"^\W*what (?:time|day) is it" + _NOW,
    (
        rf"\bwhat(?:['’]s| is|s) (?:the )?(?:square root|{_NUMBER} (?:plus|minus|times|divided"
        r"|percent|multiplied|over|to the))\b"
    ),
    (
        r"\bwhat(?:['’]s| is| was) the (?:capital|population|currency|boiling point|melting point"
        r"|official language|chemical symbol) of\b"
    ),
    (
        r"^\W*how (?:far|tall|big|deep|high|heavy|fast|hot) (?:is|are) the (?:moon|sun|earth"
        r"|equator|ocean|sky)\b"
    ),
    (
        r"^\W*how (?:far|tall|big|deep|high|heavy|fast|hot) is (?:mount|mercury|venus|mars"
        r"|jupiter|saturn|light|sound)\b"
    ),
    r"^\W*how many \w+ (?:are (?:there )?)?in (?:a|an|one) \w+\W*$",
    _PLEASE + r"(?:convert|define|translate|spell)\b",
    r"^\W*how do you (?:spell|pronounce|say)\b",
    r"^\W*how do you (?:boil|cook|bake|roast|fry) (?:an?|some)\b",
    r"^\W*what does (?:the word )?\w+ mean\W*$",
    _PLEASE
    + (
        r"(?:tell (?:me )?(?:a|another) (?:joke|story|riddle)|flip a coin|roll a (?:die|dice)"
        r"|sing (?:a song|something))\b"
    ),
    r"^\W*(?:what(?:['’]s| is) (?:in )?the (?:latest )?news|any news)\b(?! (?:about|from|of)\b)",
)
"""General questions that need no memory: weather, time, arithmetic, capitals, spelling, jokes."""

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
