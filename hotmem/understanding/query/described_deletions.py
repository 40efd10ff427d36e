"""Requests to forget a statement that they describe: "delete the bit about my weight".

Unlike other voice commands they are found in loose wordings, some of which also say that something
does not matter ("forget the rain"). So they count only if the memory has a statement that fits the
description.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from hotmem.temporal import find_times
from hotmem.text.language_detection import is_english
from hotmem.text.stemming import STOP_STEMS, terms
from hotmem.text.truncation import truncate_middle
from hotmem.text.utterance import normalize
from hotmem.types import Interval
from hotmem.understanding.animate_nouns import ACQUAINTANCES, FAMILY
from hotmem.understanding.query.commands import Command, CommandKind
from hotmem.understanding.query.voice_commands import (
    AFTERTHOUGHT,
    DELETE,
    MAX_WORDS,
    OPENING,
    as_said,
    asks_to_keep,
    is_of_device,
)


@dataclass(frozen=True, slots=True)
class DescribedDeletion:
    """What an utterance may ask to forget.

    Attributes:
        about: The description, or the statement, as it was said.
        plain: Whether the wording itself says that something told is meant ("what I said about").
        states: Whether it is a whole statement ("forget that I have two cats").
        restated: What the utterance says holds instead; "" for nothing.
    """

    about: str
    plain: bool = False
    states: bool = False
    restated: str = ""

    @property
    def parts(self) -> list[str]:
        """The descriptions of the several things that it may name: "my PIN and my address"."""
        named = _KEPT_INSTEAD.sub("", self.about)
        return [part for part in _AND.split(named) if not _EMPTY.match(part)] or [named]

    @property
    def names(self) -> list[str]:
        """The parts as names: "Ned" of "my cousin Ned", "AB-4471" of "policy AB-4471"."""
        bare = (_RELATION.sub("", part).strip(".,;: ") or self.about for part in self.parts)
        return [found[0] if (found := _IDENTIFIER.search(one)) else one for one in bare]


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

_KEPT_INSTEAD: Final = re.compile(
    r",? (?:but|and|just)(?: please)? (?:keep|leave|not|don['’]t|remind|remember)\b.*$",
    re.IGNORECASE,
)
_AND: Final = re.compile(
    rf",? and (?:also )?(?:{_ANY_VERB} )?(?:(?:on|about|of) )?(?=(?:my|our|the|where|what|how|when"
    r"|who|that)\b|[A-Z])"
)
"""What separates two things that are to be forgotten."""

_RELATION: Final = re.compile(
    rf"^(?:(?:my|our|the) )?(?:{'|'.join(sorted(FAMILY | ACQUAINTANCES))})\.? (?=[A-Z])"
)
"""A relation before a name."""

_IDENTIFIER: Final = re.compile(r"(?<= )(?=\S*\d)(?=\S*[A-Z])\S{4,}$")
"""A number with letters at the end of a description."""

_REMINDED: Final = re.compile(
    r"^(?:that )?i(?:ve| have)? (?:ever |just |once )?(?:told you|said|mentioned|gave you)"
    r"(?: (?P<about>about)| that)? (?=\w)"
)
"""Of a clause that names what was told: "I told you about the spare key"."""

_WITH_PART: Final = re.compile(
    rf"^{OPENING}{_ANY_VERB} (?:(?:that|this|it) )?{_PART} {_ABOUT}{_POLITE}{_ASIDE}{_POLITE} \|"
)
_CLAUSE: Final = re.compile(
    rf"^{OPENING}{_VERB} that (?P<about>\w+ [^|]+?){_POLITE}{_ASIDE} \| ?{AFTERTHOUGHT}$"
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


_MAY_DESCRIBE: Final = frozenset(
    {None, CommandKind.FORGET_FACT, CommandKind.FORGET_LAST, CommandKind.SKIP_TURN}
)
"""Commands that may mean a statement which the same utterance describes: "I am not vegan, forget
that". None: no command was found."""

_CONVERSATION: Final = re.compile(r"\b(?:this|our|the) (?:\w+ )?(?:conversation|chat|talk|call)$")
_WHEN: Final = re.compile(
    r"^(?:(?:everything|anything|all|whatever|what)\b(?: of)?(?: (?:that |which )?(?:(?:i|we|you)"
    r"(?:ve| have)? (?:\w+ )??(?:said|told|mentioned|talked|discussed|heard|learn\w+|stored|saved)"
    r"(?: you| about| to you)?))? ?)",
    re.IGNORECASE,
)
"""A topic that is all that was said at some time: "everything I told you yesterday"."""


_CLAUSE_END: Final = re.compile(r"(?<=[.!?;,:—])\s+")
_REQUEST: Final = re.compile(
    rf"\b(?:{DELETE}|scrap|drop|lose|unlearn|get rid of|take)\b (?!it from the|me\b)\w"
)
_EXCUSE: Final = re.compile(
    r"^(?:and |but |so )?(?:please|thanks|thank|sorry|ok|okay|now|again|because|cause|cos|since"
    r"|(?:that|it|this) (?:was|wasnt|isnt)|thats|its (?:not|no|wrong|private|over|out)|would you"
    r"|can you|could you|will you|i (?:shouldnt|made|got|mixed|misspoke|never|take|changed|didnt"
    r"|wasnt|dont|only|was))\b"
)
_AGAIN: Final = re.compile(
    rf"^\W*(?:\w+ ){{0,3}}?{DELETE} that ((?:\S+ ){{2,4}})[^.?!;]+? (?P<now>\1\S.*)$",
    re.IGNORECASE,
)
"""What holds now, without a pause: "forget that my boss is Al my boss is Jo"."""

_THAT_ALONE: Final = re.compile(
    rf"^{OPENING}(?:{DELETE}|scrap|undo) (?:that|it|what i (?:just )?said)(?: please)? \|$"
)
"""A request that names nothing: what follows holds instead of what was said last."""

_INSTEAD: Final = re.compile(
    r"(?!.*\b(?:dont|doesnt|didnt|wont|cant|wouldnt|shouldnt|would|should|not|never|id|hed|shed|kill)\b)"
    r"(?:it|its|i|im|ive|we|were|my|our|the)\b"
)
"""How what holds instead begins; what denies or would be is a reason."""

_HOLDS_NOW: Final = re.compile(
    r"^(?:i|ive|im|we|were|my|our|its|the)\b.*\b(?:now|instead|these days|nowadays|moved)\b"
)
"""The same, by words that say that something holds now."""

_STATES: Final = re.compile(
    r"(?!i (?:want|mean|said)\b)(?:ill|im|ive|id|i|we|were|my|our) (?:\w+ ){3}(?![^|]*\?)"
)
"""The beginning of a sentence that states something anew, and is no reason."""

_DENIED: Final = re.compile(r"\b(?:not|isnt|arent|wasnt|dont|doesnt|no longer|never|wrong)\b")


def split_restatement(text: str) -> tuple[str, str]:
    """Split "Forget that it is Monday. It is Tuesday." into the request and what holds instead.

    The second part is "" if there is none: it must speak of the same, or follow a denial.
    """
    if len(text.split()) > 2 * MAX_WORDS:
        return text, ""
    if (again := _AGAIN.search(text)) is not None:
        return text[: again.start("now")].strip(), again["now"]
    clauses = _CLAUSE_END.split(text)
    at = next((n for n, one in enumerate(clauses) if _REQUEST.search(normalize(one))), len(clauses))
    for n, one in enumerate(map(normalize, clauses)):  # another sentence says something else
        if n > at and clauses[n - 1][-1] in ".!" and _STATES.match(one) and not _EXCUSE.match(one):
            return " ".join(clauses[:n]), " ".join(clauses[n:])
    before, after = " ".join(clauses[: at + 1]), " ".join(clauses[at + 1 :])
    said, now = normalize(before), normalize(after)
    if len(now.split()) < 4 or now.startswith("dont") or after.endswith("?") or _EXCUSE.match(now):
        return text, ""
    denied = _DENIED.search(said) is not None
    shared = set(terms(before)) & set(terms(after)) - STOP_STEMS
    starts = r"(?:its?|hes?|shes?|they(?:re)?) (?!up|all)" + r"|(?:im?|my|we|our)\b" * denied
    instead = _THAT_ALONE.match(said) is not None and _INSTEAD.match(now) is not None
    if not (shared or re.match(starts, now) or instead or _HOLDS_NOW.search(now)):
        return text, ""
    return before, after


def described_deletion(text: str, command: Command | None) -> DescribedDeletion | None:
    """The statement that an English utterance may ask to forget.

    Args:
        text: The utterance.
        command: The command that was found in it.
    """
    if (None if command is None else command.kind) not in _MAY_DESCRIBE or not is_english(text):
        return None
    found = find_described_deletion(text)
    if found is None and command is not None and command.kind is CommandKind.FORGET_FACT:
        return DescribedDeletion(command.about, states=True, restated=command.restated)
    return found


def is_conversation(about: str) -> bool:
    """Whether what is to be forgotten is the present conversation."""
    return _CONVERSATION.search(about.lower()) is not None


def find_period(about: str, at: datetime) -> Interval | None:
    """The time of all that is to be forgotten, of "everything I told you yesterday"; or None.

    Args:
        about: What is to be forgotten.
        at: When it was said, in the user's time zone.
    """
    when = _WHEN.sub("", about)
    times = find_times(when, at)
    if not times or times[0].start or times[-1].stop < len(when):
        return None
    return Interval(times[0].interval.start, times[-1].interval.end)


@lru_cache(maxsize=4)
def find_described_deletion(text: str) -> DescribedDeletion | None:
    """Find what an utterance may ask to forget; None if it asks for nothing of the kind.

    Cached, as several stages ask for the same turn.
    """
    text, restated = split_restatement(truncate_middle(text))
    if not 2 <= len(text.split()) <= MAX_WORDS or asks_to_keep(text) or is_of_device(text):
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
        states = pattern is _CLAUSE
        if states and (opening := _REMINDED.match(about)) is not None:
            about, plain, states = about[opening.end() :], True, opening["about"] is None
        return DescribedDeletion(as_said(about, text), plain, states, restated)
    return None
