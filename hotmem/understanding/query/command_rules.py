"""Voice commands by rules: "forget everything about Tom", "this is off the record"."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from hotmem.temporal import find_times
from hotmem.text.language_detection import is_english
from hotmem.text.passages import truncate_middle
from hotmem.text.stemming import STOP_STEMS, terms
from hotmem.text.validation import normalize
from hotmem.types import Interval
from hotmem.understanding.lexicon import ACQUAINTANCES, FAMILY
from hotmem.understanding.query.commands import DELETIONS, Command, CommandKind
from hotmem.understanding.query.off_record import find_record_request

MAX_WORDS: Final = 25
"""Maximum number of words of a command; a longer utterance has other content."""


_ASK: Final = (
    r"(?:please|(?:can|could|would|will) you(?: please| just)*|would you mind"
    r"|would you be so kind as to|i(?:d| would) like you to|i (?:want|need) you to"
    r"|you (?:can|should|must|have to)|go ahead and)"
)
"""Words that turn what follows into a request."""

OPENING: Final = (
    rf"(?:(?:{_ASK}|hey|hi|ok|okay|so|and|but|oh|also|now|then|just|no|nope|yeah|yes|yep|well"
    r"|right|listen|look|alright|all right|actually|sorry|wait|hang on|hold on|(?:my )?(?:god"
    r"|goodness)|you know what|know what|never ?mind|on second thoughts?|in fact|seriously"
    r"|thinking about it"
    r"|(?:that|this|it) (?:was|is|came out) (?:wrong|a mistake|not right|private|not true)"
    r"|(?:that|it)s (?:wrong|a mistake|not right|private)"
    r"|i (?:shouldnt|should not) have (?:said|told you) (?:that|it|this)"
    r"|i (?:made a mistake|got that wrong|misspoke|didnt mean (?:that|it)"
    r"|didnt mean to(?: \w+){1,3}|changed my mind)) (?:\| )?)*"
)
"""What people say before a command."""

_START: Final = rf"(?:^|(?<=\| )){OPENING}"
_POLITE_START: Final = rf"(?:^|(?<=\| )){OPENING}{_ASK} (?:\| )?"
DELETE: Final = (
    r"(?:forget|delete|erase|remove|wipe|scrub|scratch|strike|deleting|erasing|removing|wiping)"
)
_MEMORY: Final = r"(?:from|in|out of) (?:your |the )?(?:memory|memories|records?|notes?|database)"
_TAIL: Final = (
    r"(?: (?:please|now|again|thanks|thank you|cheers|would you|will you|could you|can you"
    r"|ok|okay|alright|right now|straight away|for me|if you can|every (?:bit|word) of it"
    rf"|all of it|{_MEMORY}))*"
)
_END: Final = rf"{_TAIL} \|"
_BECAUSE: Final = (
    rf"{_TAIL}(?: (?:i|im|ive|it|its|that|thats|this|we|because|cause|cos)\b[^|]*)? \|"
)
"""An end that leaves room for a reason, where no pauses were written down."""

_SAID: Final = r"(?:i(?:ve| have)?(?: (?:just|ever|only))? (?:said|told you|mentioned))"
_WHEN: Final = r"(?: (?:just now|earlier|before|a (?:second|minute|moment) ago|out loud))?"
_LAST: Final = (
    rf"(?:what {_SAID}{_WHEN}"
    rf"|(?:that )?{_SAID}(?: (?:that|this|it|anything|so))?{_WHEN}"
    rf"|(?:the|that|my)(?: very)? last (?:thing|bit|part|one|sentence|message|remark|line|turn)"
    rf"(?: {_SAID})?{_WHEN}|(?:the thing|that (?:thing|bit|part)) {_SAID}{_WHEN})"
)
"""What was said last, in words that mean nothing else."""

_ALL: Final = (
    r"(?:everything|anything|whatever|what|all(?: (?:of )?(?:the |that |this )?(?:stuff|things?))?)"
)
_KNOWN: Final = (
    r"(?: (?:that )?(?:you(?:ve)? (?:know|have|remember|(?:have |ve |ever )*(?:stored|saved|learnt"
    rf"|learned|heard)|ve got|have got|got)|{_SAID}))?(?: {_MEMORY})?"
)
_TOPIC: Final = r"(?P<about>[^|]+?)"
_DELETED: Final = (
    r"(?:that|it|this|them|those|everything|all of (?:it|that|them)|it all"
    r"|what you (?:just )?(?:deleted|forgot|erased|removed))"
)
_SUBJECT: Final = (
    r"(?:i|im|ive|id|my|we|our|he|hes|she|shes|they|the|it|its|theres|there|you|your|every|on|at"
    r"|\w+ (?:is|was|has|likes|loves|hates|lives|works|wants|needs|cant|wont|will|goes|comes"
    r"|starts|takes))"
)
"""How a statement begins that somebody wants to be remembered."""

AFTERTHOUGHT: Final = (
    r"(?: (?:please|thanks|sorry|ok|okay|(?:that|it|this) (?:was|isnt|wasnt)\b[^|]*"
    r"|(?:thats|its|that is|it is) (?:not|no|wrong|over|private)\b[^|]*"
    r"|i (?:was|didnt|made|got|take|changed|shouldnt|never)\b[^|]*) \|)*"
)
"""A reason for forgetting a statement, which may follow it."""

_REPORTED: Final = re.compile(
    r"\b(?:said|says|saying|shout(?:s|ed)?|told \w+|tells \w+|ask(?:s|ed)?|yell(?:s|ed)?"
    r"|whisper(?:s|ed)?|wrote|writes|sang|sings|goes|went|like|called) \| $"
)
"""The end of a clause that reports what somebody said."""

_COMMANDS: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            CommandKind.FORGET_ALL,
            rf"{_START}{DELETE} (?:(?:everything|it all|all of it|all){_KNOWN}{_END}"
            rf"|{_ALL}{_KNOWN} about (?:me|us|myself)(?: \w+){{0,6}} \|"
            r"|(?:all )?(?:of )?(?:my|your)(?: (?:whole|entire|complete))? (?:data|memor(?:y|ies))"
            rf"(?: of (?:me|us))?{_END})",
        ),
        (
            CommandKind.FORGET_LAST,
            rf"{_START}{DELETE} (?:{_LAST}{_BECAUSE}|(?:that|this){_END}"
            rf"|(?:it|that|this) {_MEMORY}{_END}|{_ALL} (?:about|of) (?:it|that|this){_END})"
            rf"|{_START}{_LAST} (?:\| )?(?:please )?{DELETE} (?:that|it|this){_END}",
        ),
        (
            CommandKind.FORGET_ABOUT,
            rf"{_START}{DELETE} {_ALL}{_KNOWN} (?:about|of|on|regarding|to do with)"
            rf" {_TOPIC}(?: any ?more)?{_END}"
            rf"|{_POLITE_START}{DELETE} (?:about )?(?P<mine>my [^|]+?|our [^|]+?){_END}"
            rf"|{_START}{DELETE} (?P<stored>[^|]+?) {_MEMORY}{_END}"
            rf"|{_START}i dont want you to (?:know|remember|keep|have) anything (?:about|on)"
            rf" (?P<unknown>[^|]+?)(?: any ?more)?{_END}",
        ),
        (
            CommandKind.FORGET_FACT,
            rf"^{OPENING}{DELETE} that (?P<fact>{_SUBJECT}\b(?! (?:asked|said|mentioned|told"
            rf"|ever|exist))[^|]+?){_TAIL} \|{AFTERTHOUGHT}$",
        ),
        (
            CommandKind.UNDO,
            rf"{_START}(?:undo|un-?delete|un-?forget|restore)(?: {_DELETED})?{_BECAUSE}"
            rf"|{_START}(?:bring|get|put|give me) {_DELETED} back"
            rf"(?: (?:the thing|what) you (?:just )?(?:forgot|deleted|erased|removed))?{_END}"
            rf"|{_START}bring back {_DELETED}{_END}"
            rf"|{_START}i (?:want|need) {_DELETED} back{_END}",
        ),
        (
            CommandKind.LIST_ALL,
            r"\bwhat (?:(?:all|else) )?(?:do|did|have) you (?:know|remember(?:ed)?|store[d]?"
            r"|save[d]?|learn(?:ed|t)?)(?: all)? (?:about|of|on) me\b"
            r"|\b(?:everything|all|what) you (?:know|remember|have stored) about me\b",
        ),
        (
            CommandKind.EXPLAIN_SOURCE,
            rf"{_START}(?:how (?:do|did|can|could|come) you (?:know|remember) (?:about )?(?:that"
            r"|this|it)|who told you (?:that|this)|where (?:do|did) you (?:get|hear|learn|have)"
            r" (?:that|this)(?: from)?|when did i (?:say|tell you) that)"
            rf"(?: and (?:when|who|how|where))?{_END}",
        ),
        (
            CommandKind.REMEMBER,
            rf"{_START}(?:remember (?:\| )?(?:that|this) (?:\| )?{_SUBJECT}\b"
            rf"|remember (?:that|this){_END}"
            r"|dont forget|keep in mind|make a note|note (?:that|down)|(?:save|store) (?:that"
            r"|this))\b"
            rf"|{_POLITE_START}remember (?!when|how|what|who|where|the time|back)(?:that )?\w+",
        ),
    )
)
_DETERMINER: Final = re.compile(r"^(?:my|our|the|that|this|a|an)\s+", re.IGNORECASE)
_NO_TOPIC: Final = frozenset({"it", "that", "this", "her", "him", "them", "me", "us", "myself"})


@lru_cache(maxsize=4)
def find_command(text: str) -> Command | None:
    """Find the voice command in an utterance.

    A request not to store something may be at either end of a long utterance; other commands must
    be short. Cached, as several stages ask for the same turn.
    """
    text = truncate_middle(text)
    words, asked = normalize(text), find_record_request(text)
    keeps = asks_to_keep(text)
    if (keeps and asked is not None) or (asked is None and len(text.split()) > MAX_WORDS):
        return None
    if asked is not None:
        past = asked.kind in (CommandKind.SKIP_LAST, CommandKind.SKIP_TURN)
        if past and _DELETES.search(words) and names_time_or_topic(text):
            return Command(CommandKind.FORGET_ABOUT, about) if (about := find_topic(text)) else None
        return asked
    for kind, pattern in _COMMANDS:
        match = pattern.search(words)
        if match is None or (kind is CommandKind.REMEMBER and text.rstrip().endswith("?")):
            continue
        if keeps and kind in DELETIONS:
            return None
        topic = next(filter(None, match.groupdict().values()), "")
        if topic in _NO_TOPIC or _REPORTED.search(words[: match.start()]):
            continue
        if (kind is CommandKind.FORGET_ALL and not means_everything(text)) or (
            kind is CommandKind.FORGET_LAST and names_time_or_topic(text)
        ):
            return Command(CommandKind.FORGET_ABOUT, other) if (other := find_topic(text)) else None
        about = as_said(topic, text)
        return Command(
            kind, about if kind is CommandKind.FORGET_FACT else _DETERMINER.sub("", about)
        )
    return None


_DELETES: Final = re.compile(rf"\b{DELETE}\b")
_ASKS_TO_DELETE: Final = re.compile(rf"^{OPENING}{DELETE}\b")


def asks_to_delete(text: str) -> bool:
    """Whether an utterance begins as a request to delete: "Please forget that I live in Graz"."""
    return _ASKS_TO_DELETE.match(normalize(truncate_middle(text))) is not None


_NAMED_TOPIC: Final = tuple(
    re.compile(rf"{before} (?P<about>[^|]+?)(?: any ?more)?(?: please)?{_END}")
    for before in (
        r"\b(?:about|regarding|concerning|(?:relat(?:ing|ed)|references|refers) to|to do with"
        r"|(?:mention|records?) of)",
        rf"\b{_ALL}{_KNOWN} (?:on|of)",
        rf"\b(?:{DELETE}|get rid of|scrap|lose|drop|clear|purge|destroy|dump|discard|unlearn"
        r"|know(?:ing)?|(?:hold|hang)(?:ing)? on ?to|stor(?:e|ing)|sav(?:e|ing)|keep(?:ing)?"
        r"|remember(?:ing)?)",
    )
)
"""A topic in an utterance that is known to ask to forget one, the clearest form first."""


_BUT: Final = re.compile(r" (?:\| )?but (?:keep|leave|not) .*")


def find_topic(text: str) -> str:
    """Find what an utterance that asks to forget a topic names; "" if it names none."""
    words = _BUT.sub(" |", normalize(truncate_middle(text)))
    for pattern in _NAMED_TOPIC:
        match = pattern.search(words)
        if match is not None and match["about"] not in _NO_TOPIC:
            return _DETERMINER.sub("", as_said(match["about"], text))
    return ""


_DATA: Final = r"(?:data|memor(?:y|ies)|info\w*|profile)"
_OF_IT: Final = (
    rf"(?:(?:my )?(?:own |personal )?{_DATA}|facts|it|us|them|me|about me|i(?:ve)?|you(?:ve)?|now"
    r"|please|away|what\w*|(?:things?|stuff|records|details|notes) (?:that )?(?:you(?:ve)?"
    r"|ive? (?:ever )?(?:told|said)|(?:about|of|on) me)|\|)"
)
"""What "all" is followed by if it means all that a memory holds."""

_EVERYTHING: Final = re.compile(
    rf"^(?!.*\b(?:dont|never|not|if i) (?:\w+ ){{0,3}}?{DELETE}\b)(?!.*\b(?:(?:about|of|from|on"
    rf"|off|for|with|at|in|concerning|regarding|around|{DELETE}|clear) (?:(?:my|our|the|his|her)"
    r" )?|(?:my|our|his|her|their) )(?!(?:(?:all|whole|entire|personal|own|your|of|that|this|these)"
    rf" )*(?:{_DATA}|records?|details|facts?|things?|stuff|lot|slate|scratch|all|\w+thing|it|them"
    r"|(?:me|myself|us|you)\b(?! (?:and \w+|\w+ing)\b)|the|my|what\w*|mind|head|system|notes|now"
    r"|today|good|zero|please)\b)\w+).*\b(?:everything|anything|none|whatever|the (?:whole )?lot"
    r"|scratch|zero|clean slate|(?:(?:all|whole|entire|every|any)(?: of| the| your| that| this"
    rf"| these| those| single| last)* {_OF_IT}|(?:my|your)(?: own| personal)? {_DATA})(?= |$)"
    rf"|{DELETE} me\b)"
)
"""An utterance with a word for everything, which is not about something in particular."""


_IN_TIME: Final = re.compile(
    r"\b(?:today|yesterday|tonight|earlier|since|ago|(?:this|last|past|next|previous|whole|entire)"
    r"(?: \w+)?? (?:\w*day|\w*night|morning|afternoon|evening|minutes?|hours?|days?|weeks?|weekend"
    r"|months?|years?)|conversation|chat|call|session|talk(?:ed)?)\b"
)
"""A period or a conversation, which is not everything."""

_KEEP: Final = re.compile(
    rf"\b(?:dont|never|not|wont|mustnt|shouldnt|nobody|no one|wouldnt|bad if|why) (?:\w+ ){{0,5}}?"
    rf"{DELETE}d?\b|^(?:{OPENING})?(?:did|have|has|had|are|is|was|were|do(?! me)|does|why|who) "
    rf"(?:\w+ ){{0,6}}?(?:{DELETE}d?|forgotten)\b|\b(?:except|apart from|other than|besides"
    r"|(?:all|every|everything|anything) but|but (?:hang|hold) on)\b"
    r"|^(?:no (?:\| )?)?(?:go ahead and |please )?keep (?:it|that|this|them|everything)"
    r"(?: (?:stored|please|all|as it is|for now|then|thanks|(?:in|on) your \w+))* \|$"
)
_OF_DEVICE: Final = re.compile(
    r"\b(?:from|off|in|on|out of) (?:\w+ )?(?:phone|calendar|diary|contacts?|laptop|computer|tablet"
    r"|inbox|mailbox|e?mails?|desktop|camera|browser|facebook|instagram|whatsapp|tiktok|youtube|spotify"
    r"|netflix|steam|cloud|drive|(?:\w+ )?list|cart|basket)\b"
)
"""What is not in the memory: "delete the lunch from my calendar"."""

_NOT_LAST: Final = re.compile(
    rf"(?!.*\b(?:just now|(?:moment|second|minute) ago)\b).*(?:{_IN_TIME.pattern}"
    r"|\b(?:about|to) (?!it\b|that\b|this\b|you\b|me\b)\w)"
)


def names_time_or_topic(text: str) -> bool:
    """Whether a request to forget what was said names a time or a topic, and not what came last."""
    return _NOT_LAST.match(normalize(truncate_middle(text))) is not None


def means_everything(text: str) -> bool:
    """Whether a request to forget has everything as its object, and nothing in particular."""
    words = normalize(truncate_middle(text))
    return _EVERYTHING.match(words) is not None and _IN_TIME.search(words) is None


def asks_to_keep(text: str) -> bool:
    """Whether an utterance asks not to forget, or not all: "don't forget", "all but my name"."""
    return _KEEP.search(normalize(truncate_middle(text))) is not None


def is_of_device(text: str) -> bool:
    """Whether an utterance asks to delete something elsewhere, on a phone or in a calendar."""
    return _OF_DEVICE.search(normalize(truncate_middle(text))) is not None


def as_said(topic: str, text: str) -> str:
    """The words of a normalised topic as the utterance has them, with capitals."""
    words = (r"['’ʼ]?".join(map(re.escape, word)) for word in topic.split())
    found = re.search(r"\W+(?:\w+\W+)??".join(words), text, re.IGNORECASE) if topic else None
    return found[0] if found else topic


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

_SAID_OF: Final = (
    r"(?:i(?:ve| have)?(?: (?:just|ever|once))? (?:said|told you|mentioned|gave you|shared)"
    r"|you (?:know|have|remember|ve got|stored|saved))"
)
_PART: Final = (
    r"(?:(?:the|that|this|my|any|all(?: the)?) (?:whole )?(?:bit|part|thing|things|stuff|business"
    r"|number|figure|note|notes|entry|entries|info|information|fact|facts|detail|details|memory"
    r"|story|piece|line|statement|mention|one)"
    rf"(?: {_SAID_OF})?|(?:what|whatever|anything|everything|all) {_SAID_OF})"
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
    rf"(?: that| about)? |(?:{_PART}|what {_SAID_OF} (?:about|on)) )?"
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
_WHEN_SAID: Final = re.compile(
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
    when = _WHEN_SAID.sub("", about)
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
