"""What a search asks for by kind, category, tag and time: "decisions about the website from May".

    query ─▶ time expressions ─▶ tag ─▶ words of a kind ─▶ what remains: the topic

A word of a kind counts only where the query asks for memories of that kind: at the head of a list
("my reminders", "links I saved about tiling"), or in a question such as "what have I decided?".
"What reminders did the vet give me?" and "code review with Tom" ask for no kind.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Self

from hotmem.temporal import Bound, TimeMention, find_times
from hotmem.types import Interval


class RequestedKind(StrEnum):
    """What kind of memory a search can ask for."""

    REMINDERS = "reminders"
    PREFERENCES = "preferences"
    RULES = "rules"
    SKILLS = "skills"
    LEARNINGS = "learnings"
    PROJECTS = "projects"
    INTERACTIONS = "interactions"
    REFERENCES = "references"
    CONTEXTS = "contexts"
    DECISIONS = "decisions"
    LINKS = "links"
    CODE = "code"
    NOTES = "notes"
    """Any memory."""


NOUNS: Final[Mapping[RequestedKind, str]] = {
    RequestedKind.REMINDERS: r"reminders?|to-?do(?:'?s| lists?)?|to do(?:'?s| lists?)|task lists?"
    r"|tasks|errands|chores|agenda|deadlines|due dates|appointments|things to (?:do|remember)",
    RequestedKind.PREFERENCES: r"preferences?|likes and dislikes|favou?rites",
    RequestedKind.RULES: r"rules|instructions|settings|standing orders"
    r"|(?:system|assistant|bot) notes",
    RequestedKind.SKILLS: r"skills|abilities",
    RequestedKind.LEARNINGS: r"learnings"
    r"|lessons (?:(?:that )?(?:i|we)(?:'ve| have)? )?learn(?:ed|t)|know-how|insights?|findings"
    r"|takeaways|discoveries|tips(?: and tricks)?|tricks",
    RequestedKind.PROJECTS: r"projects|work in progress|ongoing work",
    RequestedKind.INTERACTIONS: r"conversations|talks|chats|discussions|meetings|calls"
    r"|phone calls|interactions|encounters",
    RequestedKind.REFERENCES: r"references?|reference (?:material|information|data)"
    r"|(?:things|facts|stuff) to look up",
    RequestedKind.CONTEXTS: r"contexts?|background(?: information)?|circumstances"
    r"|personal (?:details|information|facts)"
    r"|(?:things|everything|facts|notes|anything) about (?:me|myself|us)",
    RequestedKind.DECISIONS: r"decisions?|choices|agreements|resolutions",
    RequestedKind.LINKS: r"links?|urls?|bookmarks|web ?pages|web ?sites|web addresses|documents"
    r"|docs|pdfs|articles|guides|manuals|videos|templates|checklists|leaflets|files",
    RequestedKind.CODE: r"(?:code |shell )?(?:snippets?|commands?|scripts?|one-?liners?)"
    r"|(?:source|program|python|java|javascript|sql|css|html|shell|bash) code|formulas|macros"
    r"|programming|coding",
    RequestedKind.NOTES: r"notes?|memories|memory|things|thing(?= (?:i|we) )|stuff|entries|items"
    r"|anything|everything|something|all|information|info|material|details|facts",
}
"""The nouns of each kind, as a search names it."""

QUESTIONS: Final[Mapping[RequestedKind, str]] = {
    RequestedKind.REMINDERS: r"what(?: else)? (?:do (?:i|we) (?:still |also )?(?:have|need)"
    r"|have (?:i|we)(?: still)? got|(?:i|we) (?:still |also )?(?:have|need)"
    r"|(?:am i|are we) (?:still )?supposed)"
    r" to (?:do|get done|remember"
    r"|(?=buy|order|book|pay|send|call|ring|bring|prepare|finish|return|renew))"
    r"|what(?: else)? (?:must|should) (?:i|we) (?:still |not |n't )*"
    r"(?:do(?! (?:about|with|if|to|when))|remember|forget)"
    r"|(?:is there )?anything (?:i|we) (?:should|must|have to|need to)(?: not)? "
    r"(?:do|remember|forget)"
    r"|(?:what|anything|what else)(?: is|'s)? (?:still )?"
    r"(?:due|open|pending|planned|scheduled|left to do|up next|coming up)"
    r"|what (?:has|needs) to be done"
    r"|what(?: is|'s) on my (?:to-?do )?list|what (?:must|should)n't (?:i|we) forget",
    RequestedKind.PREFERENCES: r"(?:things|stuff|everything|what)(?: that| do)? (?:i|we)"
    r"(?: really)? (?:like|love|prefer|enjoy|hate|dislike)(?=$)",
    RequestedKind.DECISIONS: r"(?:what|anything|everything|things|stuff|which)"
    r"(?: have| had| did| that)? (?:i|we)(?:'ve| have)? (?:decided?|agreed?|chosen|choose|chose"
    r"|settled?)(?: (?:on|upon|to do))?"
    r"|(?:did|have) (?:i|we) (?:decided?|agreed?)(?: on)? (?:anything|something)"
    r"|what (?:was|has been|is|have been) (?:decided|agreed)(?: (?:on|upon))?",
    RequestedKind.LEARNINGS: r"(?:what|anything|everything|things|stuff)"
    r"(?: have| had| did| that)? (?:i|we)(?:'ve| have)? (?:learn(?:ed|t)?|(?:found|find) out"
    r"|figured? out|discover(?:ed)?|reali[sz]ed?)",
    RequestedKind.RULES: r"how (?:(?:should|must) you|you (?:should|must))"
    r" (?=talk|speak|answer|behave|call)"
    r"|how the (?:assistant|bot) (?:should|must) (?=talk|speak|answer|behave|call)"
    r"|how i want you to"
    r"|how (?:do|did) i want you to",
    RequestedKind.PROJECTS: r"what (?:am i|are we) working on"
    r"|(?:things|stuff|what) (?:i'm|i am|we're|we are) working on",
    RequestedKind.LINKS: r"(?:what|anything|everything|things)(?: have| did)? (?:i|we)(?:'ve)?"
    r" bookmark(?:ed)?",
    RequestedKind.INTERACTIONS: r"(?:who|people)(?: did| have)? (?:i|we)(?:'ve| have)?"
    r" (?:talk(?:ed)?|spoken?|spoke|met|meet)(?: (?:to|with))?"
    r"|what (?:did |have )?(?:people|others) (?:told|tell|said|say)(?: (?:me|us))?",
    RequestedKind.NOTES: r"(?:what|anything|everything|things|stuff)"
    r"(?: have| had| did| that)? (?:i|we)(?:'ve| have)? (?:asked? you to (?:note|save|store|keep"
    r"|remember)|(?:noted?|saved?|stored?|wr[io]te|written|jot(?:ted)?|put|tell|told|add(?:ed)?"
    r"|record(?:ed)?)(?: (?:down|you))*)"
    r"|what(?: is|'s) new",
}
"""Questions that ask for a kind, from the start of the query."""


@dataclass(frozen=True, slots=True)
class Requested:
    """What a search asks for.

    Attributes:
        kind: The kind of memory; `NOTES` for any.
        topic: The words that remain, as written; "" if none do.
        tag: The tag, lower case; None if it names none.
        time: The period, UTC; None if it names none.
        due: Whether the period is when a reminder is due, not when a memory was stored.
    """

    kind: RequestedKind
    topic: str = ""
    tag: str | None = None
    time: Interval | None = None
    due: bool = False

    def with_tag_as_topic(self) -> Self:
        """The same with the tag among the words of the topic, for a tag that nothing has."""
        return replace(self, tag=None, topic=f"{self.topic} {self.tag or ''}".strip())


_BEFORE: Final = r"(?:(?:so|and|ok|well|please|remind me|tell me|show me)\s+)*"
"""Words before a question."""

_OPENING: Final = re.compile(
    r"(?:(?:please|ok(?:ay)?|so|now|and|hey|can you|could you|would you|i (?:want|need|would like)"
    r"(?: to see)?|i'd like(?: to see)?|let me see|show|list|find|give|get|read|tell|look up"
    r"|search(?: for)?|go through|pull up|bring up|remind|me|us|out|about|of|are there|is there"
    r"|do (?:i|we|you) have|have (?:i|we|you) got|what are|what were|which are|what about|what's"
    r"|(?:did|have) (?:i|we) (?:noted?|saved?|stored?|ma[kd]e|set)|what is|what|which"
    r"|any|all|every|some|my|our|the|those|these|your|open|pending|overdue|upcoming|current"
    r"|ongoing|most recent|recent|latest|newest|last|old|stored|saved|category)\b[\s,:]*)+",
    re.IGNORECASE,
)
"""Words before the head of a list."""

_LINK: Final = (
    r"(?:about|on|for|of|from|with|regarding|concerning|around|related to|to do with|to|in|since"
    r"|at|before|until|by|under|due|tagged|filed|do (?:i|we) (?:still )?have|did (?:i|we)"
    r"|are (?:left|open|due)|(?:that|which) (?:i|we)|i|i've|we|we've|how)"
)
MAX_WORDS: Final = 30
MAX_CHARACTERS: Final = 300
"""Words and characters from which a query is no request for a kind, a tag or a time."""

_MODIFIERS: Final = r"(?P<modifiers>(?:(?!\w+'s )[\w'-]+ ){0,3}?)"
"""At most three words before the noun of a kind: "shell", "open tax" in "open tax reminders"."""

_TAIL: Final = rf"$|[\s,]+(?={_LINK}\b)"
"""What follows the head of a list: nothing, a preposition, or "I saved"."""

_CONNECTING: Final = re.compile(
    r"(?:(?:that|which|where|about|on|for|of|from|with|regarding|concerning|around|related to"
    r"|at|to do with|in(?: (?:the )?category)?|since|filed|under|due|tagged"
    r"|(?:i|we)(?:'ve)?(?: have| had)? (?:noted?|saved?|stored?|wrote|written|kept|made|had|have"
    r"|got|gave|told|put|added|recorded|collected|bookmarked)(?: (?:you|down|up))*"
    r"|(?:do|did) (?:i|we) (?:still )?(?:have|make|take|set|note|save|store)"
    r"|i (?:still )?have|i've|we've|are (?:left|open)|my|our|the|people|someone|others|everyone)"
    r"\b[\s,]*)+",
    re.IGNORECASE,
)
"""Words between the head of a list and its topic."""

_EMPTY: Final = re.compile(
    r"(?:(?:to|for|with|at|so|you|me|us|self|myself|it|them|now|again|please|yet|far|all|there)\b\s*)*",
    re.IGNORECASE,
)
"""What is no topic."""

_TAG: Final = re.compile(
    r"(?:^|\s)#(?P<hash>[\w-]+)[,.;:!?]*(?!\S)"
    r"|(?<!\S)(?P<before>\w+)-(?:tagged|labelled)(?=[\s,.;:!?]|$)"
    r"|(?<!\S)(?:(?:with|under|has|have|having|is|are) )?(?:the )?(?:hash)?"
    r"(?:tag(?:ged)?|label(?:led|ed)?)\b(?: (?:as|with|by))?:? "
    r"[\"“'‘]?(?P<tag>[\w-]+[+#]*(?: (?!from\b|since\b|in\b|last\b|this\b|about\b)[\w-]+)?)[\"”'’]?"
    r"(?=\s*$| (?:from|since|in|last|this|about)\b)"
    r"|(?<!\S)(?:(?:with|under|has|have|having) )?(?:the )?(?P<last>[\w-]+) (?:hash)?tag$",
    re.IGNORECASE,
)
"""A tag that a query names: "tagged tax", "#tax", "the tax tag"."""

_ASKING: Final = re.compile(r"(?:what|which)? ?(?:(?:have|did|do) (?:i|we|you)(?: have)?)?", re.I)
"""What is left of a query that asks for nothing but a tag."""

_STORED: Final = re.compile(r"\b(?:from|since)\b", re.IGNORECASE)
"""A preposition of the time when a memory was stored: "notes from May"."""

_RECORDS: Final = re.compile(r"note|memor|entr|item", re.IGNORECASE)
"""Nouns for what was stored, where a time is when it was stored: "notes of last week"."""

_STATING: Final = re.compile(
    r"\s(?:in|at|to|by|of|with|how|are|do|did|that|where)\b", re.IGNORECASE
)
"""What follows a vague noun in a statement: "everything in the kitchen went dark"."""

_ASSISTANT: Final = re.compile(r"(?:assistant|bot|your|system)\s*", re.IGNORECASE)
"""Words about the assistant, which every rule is about."""


def requested_memories(text: str, at: datetime) -> Requested | None:
    """What a search asks for by kind, tag or time; None if it asks by words alone.

    Args:
        text: The query.
        at: When it is asked, in the user's time zone.
    """
    words = " ".join(text.replace("’", "'").split()).strip(" ?!.,;:")
    if words.count(" ") >= MAX_WORDS or len(words) >= MAX_CHARACTERS:
        return None
    tag, words = _take_tag(words)
    times = find_times(words, at)
    rest = _without(words, times)
    found = _asked(rest)
    if found is None:
        if tag is None:
            return None
        empty = _OPENING.fullmatch(rest) or _ASKING.fullmatch(rest)
        return Requested(RequestedKind.NOTES, "" if empty else rest, tag)
    kind, topic, vague = found
    stored = any(_STORED.match(words[one.start : one.stop]) for one in times)
    if times and vague and not stored:
        return None  # "anything on Friday?" asks what happens then, not what was stored
    due = kind is RequestedKind.REMINDERS and not stored
    period = _period(words, at, ahead=due)
    return Requested(kind, topic, tag, period, due and period is not None)


def _take_tag(words: str) -> tuple[str | None, str]:
    """The tag that a query names, and the query without it."""
    named = _TAG.search(words)
    if named is None:
        return None, words
    tag = next(filter(None, named.groups())).lower()
    return tag, " ".join((words[: named.start()] + words[named.end() :]).split())


def _without(words: str, times: Sequence[TimeMention]) -> str:
    """The query without its time expressions."""
    for one in reversed(times):
        words = words[: one.start] + words[one.stop :]
    return " ".join(words.split()).strip(" ,")


def _period(words: str, at: datetime, *, ahead: bool) -> Interval | None:
    """The period that all time expressions together name; None without one."""
    times = find_times(words, at, ahead=ahead)
    if not times:
        return None
    start = min(one.interval.start for one in times)
    end = max(one.interval.end for one in times)
    if any(one.bound is Bound.UNTIL for one in times):
        start = min(start, at)
    if any(one.bound is Bound.SINCE for one in times):
        end = max(end, at)
    return Interval(start, end)


def _asked(words: str) -> tuple[RequestedKind, str, bool] | None:
    """The kind that a query asks for, its topic, and whether its noun is vague ("anything")."""
    for kind, question in QUESTIONS.items():
        if match := re.match(rf"{_BEFORE}(?:{question})\b", words, re.IGNORECASE):
            return kind, _topic(words[match.end() :]), False
    opening = _OPENING.match(words)
    listed = words[opening.end() :] if opening else words
    for kind, nouns in NOUNS.items():
        head = re.match(rf"{_MODIFIERS}(?P<noun>{nouns})(?={_TAIL})", listed, re.IGNORECASE)
        if head is not None and not (
            _is_question(listed) or re.search(rf"\b{_LINK}\b", head["modifiers"], re.IGNORECASE)
        ):
            topic = f"{head['modifiers']} {_topic(listed[head.end() :])}"
            narrowed, topic = _narrowed(kind, " ".join(topic.split()))
            vague = narrowed is RequestedKind.NOTES and not _RECORDS.match(head["noun"])
            if vague and (_STATING.match(listed[head.end() :]) or _is_alone(head)):
                return None
            return narrowed, topic, vague
    return None


def _is_alone(head: re.Match[str]) -> bool:
    """Whether a word such as "all" stands where only a noun could: "evening all"."""
    return (
        bool(head["modifiers"]) and re.match(r"all|any|every|some", head["noun"], re.I) is not None
    )


def _is_question(words: str) -> bool:
    return re.match(r"(?:who|when|where|why|how|did|does|is|was|were)\b", words, re.I) is not None


def _narrowed(kind: RequestedKind, topic: str) -> tuple[RequestedKind, str]:
    """The kind and the topic; of "notes about my projects" and "project notes" the projects."""
    if kind is RequestedKind.RULES:
        topic = _ASSISTANT.sub("", topic)
    if kind is RequestedKind.NOTES:
        for other, nouns in NOUNS.items():
            if other is not kind and any(
                re.fullmatch(nouns, form, re.IGNORECASE) for form in (topic, f"{topic}s")
            ):
                return other, ""
    return kind, topic


def _topic(words: str) -> str:
    """The words after the head without those that connect them to it."""
    words = words.strip(" ,")
    connecting = _CONNECTING.match(words)
    topic = words[connecting.end() :] if connecting else words
    return "" if _EMPTY.fullmatch(topic) else topic
