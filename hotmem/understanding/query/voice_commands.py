"""Voice commands: "forget everything about Tom", "this is off the record"."""

import re
from functools import lru_cache
from typing import Final

from hotmem.text.truncation import truncate_middle
from hotmem.text.utterance import normalize
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
