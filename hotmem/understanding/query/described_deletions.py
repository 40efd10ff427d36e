"""Requests to forget a statement that they describe: "delete the bit about my weight".

Unlike other voice commands they are found in loose wordings, some of which also say that something
does not matter ("forget the rain"). So they count only if the memory has a statement that fits the
description.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hotmem.text.truncation import truncate_middle
from hotmem.understanding.query.utterance import normalize
from hotmem.understanding.query.voice_commands import (
    AFTERTHOUGHT,
    MAX_WORDS,
    OPENING,
    as_said,
)


@dataclass(frozen=True, slots=True)
class DescribedDeletion:
    """What an utterance may ask to forget.

    Attributes:
        about: The description, or the statement, as it was said.
        plain: Whether the wording itself says that something told is meant ("what I said about").
        states: Whether it is a whole statement ("forget that I have two cats").
        corrected: Whether it also says what holds instead.
    """

    about: str
    plain: bool = False
    states: bool = False
    corrected: bool = False


_FORGET: Final = r"(?:forget|unlearn|unremember)"
_KEPT: Final = r"(?:keep|remember|store|save|hold on to|hang on to|hold onto|retain)"
_DO_NOT: Final = (
    rf"(?:(?:dont|do not|no need to) {_KEPT}|stop (?:remembering|keeping|storing)"
    rf"|(?:i (?:dont|do not) want you to|id (?:rather|prefer) you didnt) (?:{_KEPT}|know|have))"
)
_DELETE: Final = (
    r"(?:delete|erase|remove|wipe(?: out| away)?|scrub|scratch(?: out)?|strike(?: out)?|unsay)"
)
_DROP: Final = (
    r"(?:drop|lose|clear|cut|dump|discard|ditch|cross (?:off|out)|get rid of|rub out"
    r"|take (?:away|back|out|off)|throw (?:away|out)|let go of)"
)
"""Verbs that also mean things of the household: "take out the bins"."""

_VERB: Final = rf"(?:{_FORGET}|{_DO_NOT}|{_DELETE})"
_ANY_VERB: Final = rf"(?:{_VERB}|{_DROP})"
_CUE: Final = re.compile(rf"\b(?:{_ANY_VERB}|take)\b")
_PLAIN: Final = re.compile(rf"^{OPENING}(?:unlearn|unremember|{_DO_NOT})\b")
"""A verb that only a memory is asked to do."""

_SAID: Final = (
    r"(?:i(?:ve| have)?(?: (?:just|ever|once))? (?:said|told you|mentioned|gave you|shared)"
    r"|you (?:know|have|remember|ve got|stored|saved))"
)
_PART: Final = (
    r"(?:(?:the|that|this|my|any|all(?: the)?) (?:whole )?(?:bit|part|thing|things|stuff|business"
    r"|number|figure|note|notes|entry|entries|info|information|fact|facts|detail|details|memory"
    r"|story|piece|line|statement|mention|one)"
    rf"(?: {_SAID})?|(?:what|whatever|anything|everything|all) {_SAID})"
    rf"(?: (?:earlier|before|yesterday|last \w+))?"
    r" (?:about|on|with|of|regarding|concerning|to do with|related to|that|saying)"
)
_ABOUT: Final = r"(?P<about>[^|]+?)"
_POLITE: Final = (
    r"(?: (?:please|now|again|thanks|thank you|cheers|would you|will you|could you|can you|as well"
    r"|too|ok|okay|alright|right now|straight away|for me|if you can|altogether|completely"
    r"|for good|any ?more|i mean|you know"
    r"|(?:from|in|out of) (?:your |the |my )?(?:memory|memories|records?|notes?|database"
    r"|head|mind)))*"
)
_ASIDE: Final = (
    r"(?: (?:i (?:mean|shouldnt|should not|didnt|did not|was|made|got|mixed|misspoke|never"
    r"|dont want|take|changed|only|mentioned|wasnt|told)|(?:she|he|they)(?:d|ll| would| will|s)\b"
    r"|(?:that|it|this) (?:was|is|isnt|wasnt)|thats|its|every bit|all of it)\b[^|]*)?"
)
"""A reason that follows without a pause where no pauses were written down."""

_REASON: Final = (
    r"(?:(?:please|thanks|thank you|sorry|ok|okay|would you|could you|will you|can you|now"
    r"|(?:because |cause |cos |as |since )?(?:i (?:mixed|shouldnt|should not|didnt|did not|was|made"
    r"|got|misspoke|never|dont want|take|changed|meant|mean|wasnt|only|no longer|told|lied|m)|im"
    r"|ive|(?:that|it|this) (?:was|isnt|wasnt|is|belongs|turned)|thats|its|(?:he|she|they)s?"
    r"|(?:he|she|they)(?:d|re|ll|ve)|my|theres|mine|all of it|every))\b[^|]*\| ?)*"
)
"""Reasons and courtesies that may follow; anything else says what matters instead."""

_THAT: Final = r"(?:that|it|this|them|those)(?: (?:one|bit|part|thing|again))?"
_ASKING: Final = (
    r"(?:please|(?:can|could|would|will) you(?: please| just)?|you (?:can|should|may|could)"
    r"|i(?:d| would) like you to|i want you to|so|just|now|ok|okay|actually)"
)

_WITH_PART: Final = re.compile(
    rf"^{OPENING}{_ANY_VERB} (?:(?:that|this|it) )?{_PART} {_ABOUT}{_POLITE}{_ASIDE}{_POLITE} \|"
)
_CLAUSE: Final = re.compile(
    rf"^{OPENING}{_VERB} that (?P<about>\w+ [^|]+?){_POLITE}{_ASIDE} \| ?(?:{AFTERTHOUGHT}"
    r"|(?P<corrected>(?:its|it is|it|they|theyre|im|i|he|hes|she|shes|were|we)\b[^|]*\|))$"
)
_NAMED: Final = re.compile(
    rf"^{OPENING}{_VERB}(?: about)? (?P<about>(?:(?:the|my|our|that|this) |\w+s )[^|]+?)"
    rf"{_POLITE}{_ASIDE}{_POLITE} \| ?{_REASON}$"
)
_BEFORE: Final = re.compile(
    rf"^{OPENING}(?:(?:i (?:shouldnt|should not) have|i wish i hadnt|i didnt mean to)"
    r" (?:said|mentioned|mention|told you(?: about)?|tell you(?: about)?|brought up|say)"
    rf"(?: that| about)? |(?:{_PART}|what {_SAID} (?:about|on)) )?"
    rf"(?P<about>[^|]+?)(?: \| [^|]+?)??(?: \|(?: {OPENING}| )| {_ASKING} )"
    rf"(?:{_ASKING} )*(?:{_ANY_VERB} {_THAT}|take {_THAT} (?:out|back|off|away))"
    rf"{_POLITE}{_ASIDE} \| ?{_REASON}$"
)

_DEVICES: Final = re.compile(
    r"\b(?:alarms?|timers?|reminders?|files?|photos?|pictures?|e-?mails?|messages?|texts?|songs?"
    r"|playlists?|apps?|tabs?|recordings?|videos?|paragraphs?|lines?|items?|lists?|lights?|volume"
    r"|(?:shopping|to-?do|grocery) list|calendar|downloads?|folders?|voicemails?|history|cart"
    r"|basket|order|documents?|screen|cookies|cache)"
    r"(?: (?:from|in|on|off|at|for|to)\b.*)?$"
)
"""The end of a phrase for what devices delete."""

_EMPTY: Final = re.compile(
    r"^(?:(?:that|this|it|them|those|the|my|a|an|one|thing|things|bit|part|stuff|all|everything|last"
    r"|first|of|i|you|asked|said|what|just|now|about|whole)(?: |$))+$"
)
"""A description without content."""

_IMPERATIVE: Final = re.compile(
    r"^(?:tell|lets|play|show|give|find|call|what|who|where|when|why|how|did|do|can|could|would"
    r"|should|maybe|id like|i want|i need|ill)\b"
)
"""The beginning of an order, a wish or a question, which states nothing."""


@lru_cache(maxsize=4)
def find_described_deletion(text: str) -> DescribedDeletion | None:
    """Find what an utterance may ask to forget; None if it asks for nothing of the kind.

    Cached, as several stages ask for the same turn.
    """
    text = truncate_middle(text)
    if not 2 <= len(text.split()) <= MAX_WORDS:
        return None
    words = normalize(text)
    if _CUE.search(words) is None:
        return None
    for pattern in (_WITH_PART, _CLAUSE, _NAMED, _BEFORE):
        match = pattern.search(words)
        if match is None:
            continue
        about = match["about"].strip()
        plain = pattern is _WITH_PART or _PLAIN.match(words) is not None
        if _EMPTY.match(about) or (
            not plain and (_DEVICES.search(about) or _IMPERATIVE.match(about))
        ):
            return None
        corrected = match.groupdict().get("corrected") is not None
        return DescribedDeletion(
            as_said(about, text), plain, states=pattern is _CLAUSE, corrected=corrected
        )
    return None
