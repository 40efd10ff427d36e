"""Requests not to store something, and the consent to a command that was read out.

A request is detected in any wording and anywhere in a turn. If it is uncertain whether a turn is
only a request, the request applies to that turn alone.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from hotmem.temporal import find_times
from hotmem.text.passages import SENTENCE_END, truncate_middle
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.text.validation import END, normalize
from hotmem.text.word_sets import word_sets
from hotmem.understanding.query.commands import Command, CommandKind

_SAID: Final = r"(?:said|told you|mentioned|shared|admitted|confessed|let slip)"
_SAY: Final = r"(?:say|tell you|share|saying|telling you|sharing)"
_ABOUT_TO: Final = r"(?:(?:about to|going to|gonna|will|want to|wanna|have to|need to) )?"
_PIECE: Final = (
    r"(?:thing|bit|part|sentence|one|message|comment|remark|statement|line|turn|stuff)s?"
)
NUMBERS: Final = {"two": 2, "couple": 2, "couple of": 2, "three": 3, "few": 3, "2": 2, "3": 3}
LAST_TURNS: Final = re.compile(
    rf"\b(?:last|previous) ({'|'.join(sorted(NUMBERS, key=len, reverse=True))})\b"
)

PARTITIVE: Final = re.compile(r"\b(?:any|a word|some|all) of (?=(?:this|that|it)\b)")
REFERENCES: Final = tuple(
    (re.compile(rf"(?<!\w)(?:{pattern})(?! (?:about|of)\b)(?!\w)"), token)
    for token, pattern in (
        (
            "BEFORE",
            rf"(?:what (?:that )?(?:i|ive|i have|id) (?:(?:have )?(?:just|only) )?{_SAID}"
            rf"|(?:the |that |my |those |these |this )?(?:very )?(?:last"
            rf"|previous) (?:(?:{'|'.join(NUMBERS)}) )?{_PIECE}(?: of mine)?"
            rf"(?: (?:that )?(?:i|ive|i have) (?:just )?{_SAID})?|that (?:last )?{_PIECE}(?: (?:i"
            rf"|ive) (?:just )?{_SAID})?)"
            r"(?: (?:just now|earlier|before|a (?:moment|minute|second) ago))?",
        ),
        (
            "NEXT",
            rf"(?:what|anything|everything|whatever|any of what|a word of what) (?:i|im|ill"
            rf"|i am|i will) {_ABOUT_TO}{_SAY}(?: (?:next|now|here))?"
            rf"|(?:this|the|my) (?:next|following) (?:few )?(?:{_PIECE}|minutes?"
            rf"|moments?)(?: (?:that )?(?:i|im|ill) {_ABOUT_TO}{_SAY})?|(?:this"
            rf"|the) (?:conversation|chat|call)"
            rf"|this {_PIECE}",
        ),
    )
)
"""References to turns, and the placeholders that replace them for the patterns below."""

_IT: Final = r"(?:BEFORE|NEXT|that|this|it|them|those|these)"
_MEMORY: Final = (
    r"(?:(?:(?:your|the|any|my) )?(?:long term )?(?:memory|memories|notes?|records?|database"
    r"|files?|logs?|history|diary|(?:wee |little )?books?"
    r"|notebook|system|storage)(?: of yours)?"
    r"|(?:whatever|what|anything|everything) (?:you|youre|you are) (?:keep|store|save|write|note"
    r"|remember)(?:ing)?)"
)
_PLACE: Final = (
    rf"(?:(?:in|into|to|on|from|out of|for|off) {_MEMORY}|on (?:file|record)|anywhere|either"
    rf"|at all|down|away|ever|for (?:now|me|later))"
)
_STANDS_ALONE: Final = (
    rf"(?= \{END}| {_PLACE}\b| (?:please|ok|okay|right|yeah|yes|no|now|then|though|again|will"
    rf"|would|can|could|and|but|or|so|if|when|while|until"
    rf"|till|because|cause|cos|cuz"
    r"|since|as|i|im|ive|id|ill|my|we|our|he|hes|she|shes|they|the|its|theres|there|thanks|thank"
    r"|just|actually|really|honestly|alright|like|well"
    r"|oh|you|mate|today|yet|too"
    r"|is|was)\b)"
)
"""What may follow a pronoun; in "that file", "that" is a determiner."""

_THING: Final = (
    rf"(?:{_IT}{_STANDS_ALONE}|(?:anything|everything|stuff|things)(?! (?:you|we|they|he|she"
    rf"|in|from|about))\b)"
)
_KEEP: Final = (
    rf"(?:(?:remember|store|save|keep|record|log|note|retain|memori[sz]e|(?:hold|hang) on ?to"
    rf"|archive|document|transcribe|file)(?: down)? {_THING}"
    rf"|(?:write|jot|note|put|take) (?:down )?{_THING}(?: down)?|(?:put|add|commit|enter"
    rf"|let) {_IT} {_PLACE}"
    rf"|(?:take|make|keep|have) (?:any |a |no )?(?:notes?|records?)(?: (?:of|about"
    rf"|on) {_IT})?{_STANDS_ALONE})(?: {_PLACE})*"
)
_KEEPING: Final = (
    rf"(?:(?:remembering|storing|saving|keeping|recording|logging|noting|memori[sz]ing"
    rf"|transcribing)(?: {_THING})?(?= \{END}| {_PLACE}\b| (?:for"
    rf"|please|now|ok|okay|yeah|right|i|im|ive|and|but|until)\b)"
    rf"|(?:remembering|storing|saving|keeping|recording|writing|jotting|noting|putting"
    rf"|taking) {_THING}|(?:taking|making"
    rf"|keeping) (?:any )?(?:notes|records|track))(?: {_PLACE})*"
)
_KEPT: Final = (
    rf"(?:(?:remembered|stored|saved|kept|recorded|logged|noted|written|put|memori[sz]ed|retained"
    rf"|entered|filed)(?: {_PLACE})*|{_PLACE})"
)
_IMPERATIVE: Final = (
    r"(?:(?:can|could|would|will|must|please) (?:you|we) (?:please |just )?|\byou to (?:please )?"
    r"|(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bthey )(?<!\bpeople )(?<!\bwho )(?<!\bwhy )(?<!\bhow "
    r")(?<!\bto )(?<!\bthat )(?<!\bsaid )(?<!\bsays )\b)"
)
"""Context before an imperative; "don't" after a subject is not one."""
_FOR_A_WHILE: Final = (
    r"(?: (?:for (?:(?:a|one|the) (?:little )?(?:bit|while|minute|moment|sec|second"
    r"|few minutes)|NEXT|now|the rest of \w+ \w+)"
    r"|until (?:i say|further)(?: \w+){0,3}|from (?:now|here) on|here|now|please))*"
)

FROM_NOW_ON: Final = re.compile(
    rf"{_IMPERATIVE}(?<!\bdont )(?<!\bnot )(?<!\bnever )(?:"
    rf"(?:stop|quit|pause|cease|hold off(?: on)?|refrain from) {_KEEPING}"
    rf"|(?:private|incognito|privacy) mode(?! off)"
    rf"|(?:turn|switch|shut) (?:(?:your|the) )?(?:memory|recording|recorder"
    rf"|notes?(?: taking)?) off"
    rf"|(?:turn|switch|shut) off (?:your |the )?(?:memory|recording|note taking)"
    rf"|(?:can|could|would|will) (?:you|we)(?: please)? (?:not|stop) (?:record(?:ing)?"
    rf"|listen(?:ing)? in|tak(?:e|ing) notes)(?= \{END}| for\b| now| please)"
    rf"|(?:nothing|none of it|zero of it)(?: (?:from|in) (?:this|the) (?:chat|call"
    rf"|conversation))? (?:goes|gets|is|to be|should be) {_KEPT}){_FOR_A_WHILE}"
)
"""Requests not to store anything from now on, whatever else the turn says."""

REPORTED: Final = re.compile(
    rf"\b(?:told|said|says|spoke|talked|asked|mentioned|admitted|heard|confided"
    rf"|(?:she|he|they|who) \w+)\b[^{END}A-Z]*(?<!s )(?<!\bbut )(?<!\band )\boff (?:the )?record"
    r"|\bwhat (?:does|is) off (?:the )?record"
)
"""Reports of what somebody said off the record, and questions about it."""

REQUEST: Final = re.compile(
    rf"(?:"
    rf"{_IMPERATIVE}(?:dont|do not|never|and not|please not)(?: you dare| ever| even"
    rf"| please)? {_KEEP}|{_IMPERATIVE}(?:dont|do not) (?:you )?(?:go|be|start) {_KEEPING}"
    rf"|(?:let|like|want|please let) {_IT}(?: just)? (?:to )?(?:vanish|disappear|go away"
    rf"|die with)|(?:in|goes in) one ear and out the other"
    rf"|(?:can|could|will) you keep a secret(?= (?:\{END} )?\w)|let {_IT} end up there"
    rf"|(?:you|youd|youre) (?:must not|mustnt|should not|shouldnt|may not|need not|neednt"
    rf"|do not need to|dont need to|do not have to|dont have to|better not|not to|not going to"
    rf"|not gonna|not allowed to) {_KEEP}"
    rf"|you (?:can not|cannot|cant|will not|wont) (?!remember){_KEEP}"
    rf"|(?:do not|dont|did not|didnt) want you to {_KEEP}"
    rf"|(?:do not|dont|would not|wouldnt) (?:want|like) (?:{_IT}|anything) (?:to be |being "
    rf"|to get |to end up |to go )?{_KEPT}"
    rf"|(?:rather|prefer) (?:if )?{_IT} (?:wasnt|was not|isnt|is not|werent|were not"
    rf"|didnt get) {_KEPT}|no need to {_KEEP}|without (?:you )?{_KEEPING}"
    rf"|no (?:notes|recording|records?)(?: (?:of|on|about) {_IT})?(?= \{END}| for (?:NEXT|a"
    rf"|one|now)| please| now| i| ok)"
    rf"|(?:keep|leave|keeping|leaving) {_IT} (?:out of|off) {_MEMORY}"
    rf"|{_IT} (?:stays|should stay|has to stay|needs to stay|must stay|is to stay|stay"
    rf"|can stay) (?:out of|off) {_MEMORY}"
    rf"|(?:{_IT} )?(?:isnt|is not|thats not|not|aint) for (?:your |the )(?:memory|memories"
    rf"|notes|records?|files?|books)"
    rf"|{_IT} (?:isnt|is not|should not|shouldnt|must not|mustnt|can not|cannot|cant|does not"
    rf"|doesnt|will not|wont|need not|neednt|never|not|doesnt need to|does not need to|isnt to"
    rf"|is not to) (?:to )?(?:be |get |gets |go |going |end up )?{_KEPT}"
    rf"|(?:(?:{_IT}|thats|its|and|but) )?(?:(?:is|was|s|are|has to be|should be|must be|stays"
    rf"|be|strictly|all|completely|totally|keep(?: {_IT})?) )*off (?:the )?record(?! (?:player"
    rf"|deck|shop|store|label|sleeve|cover|collection|company|needle|turntable|breaking|high"
    rf"|low))|not to be {_KEPT}"
    rf"|{_IMPERATIVE}keep {_IT} (?:to yourself|private|secret|confidential|quiet|hush"
    rf"|under (?:wraps|your hat))(?! {_PIECE})"
    rf"|(?:{_IT} is|thats|its) (?:a |our |my )?(?:little |big )?secret(?= \{END}| (?:i|im|ive"
    rf"|id|we|were|weve|but|my|our|ok|so|she|he|they|and)\b)"
    rf"|{_IMPERATIVE}(?:dont|do not|never) tell (?:anyone|anybody|a soul)(?: else)?(?: (?:this"
    rf"|that|it|about (?:this|that|it)))?"
    rf"|(?:just |strictly |only )?between (?:you and me|us|me and you|the two of us)(?! (?:and|we"
    rf"|two|there|three))"
    rf"|you (?:didnt|did not|never) hear(?:d)? (?:{_IT}|anything)(?: from me)?){_FOR_A_WHILE}"
)

_WITHDRAW: Final = (
    r"(?:strike|scrub|scratch|erase|delete|remove|wipe|drop|lose|clear|forget|discard"
    r"|disregard|ignore|bin|get rid of|cut|unsave"
    r"|undo|take out|take back|dont count)"
)
WITHDRAWAL: Final = re.compile(
    rf"{_IMPERATIVE}(?:{_WITHDRAW} BEFORE(?: {_PLACE})*|BEFORE (?:please )?{_WITHDRAW} (?:that|it)"
    rf"|(?:unhear|unsay|unremember|unsave|unstore) (?:that|it|BEFORE)"
    rf"|i (?:should not|shouldnt|should never) have (?:said|told you|mentioned) (?:that|this|it"
    rf"|anything)"
    rf"|take (?:that|this|it) (?:out of|off|from) {_MEMORY}|{_WITHDRAW} (?:that|this|it) (?:from"
    rf"|out of|off) {_MEMORY}"
    rf"|forget (?:that )?(?:i|ive) (?:ever |even |just )?(?:{_SAID}|brought)(?: (?:that|this|it"
    rf"|anything|up))*"
    r"|(?:pretend|act like) (?:that )?(?:i|you) (?:didnt|did not|never|hadnt) (?:just )?(?:say"
    r"|said|tell you|told you|mention|mentioned|hear"
    r"|heard)(?: (?:that|this|it|anything))?)"
)
"""Requests to remove the turn before, which they name; "forget that" may mean anything."""

ERASURE: Final = re.compile(
    rf"^(?:(?:\w+ ){{0,3}}(?:\{END} )?|(?:oh|oops|ugh)\b[^{END}]*\{END} [^{END}]*\{END} "
    rf")(?:(?:can|could|would|will) you |you can |please |just )*"
    rf"(?:(?:wipe|erase|strike|delete|scrub|get rid of|take) (?:that|it)(?: back out"
    rf"| out)?(?: again)?"
    rf"(?: \{END} \w| (?:she|he|they|nobody|no one|my|i dont) )|(?:strike|scratch"
    rf"|get rid of) (?:that|it) \{END}$)"
)
"""Requests to remove the turn before with a reason: "wipe that, she doesn't know yet"."""


THAT_AND_MORE: Final = re.compile(rf"\bthat \{END} \w")
"""A request that ends with "that", followed by another sentence."""


ANNOUNCEMENT: Final = re.compile(
    r"\b(?:(?:(?:i want to|i need to|i have to|i wanna|id like to|can i|could i|may i|let me"
    r"|im going to|im gonna|im about to|i am going to) "
    r"(?:tell|say|share|ask|confess|admit)(?: you)?|ive got|i have|heres|here is"
    r"|theres)(?: (?:something|a secret|one thing|a thing"
    r"|something (?:private|personal|secret)))"
    r"(?: (?:to tell you|to say))?)\b"
)
REGRET: Final = re.compile(
    r"\bi (?:should not|shouldnt|should never) have (?:said|told you|mentioned)"
    r"(?: (?:that|this|it|anything))?\b"
)
COURTESY: Final = re.compile(
    r"\b(?:(?:can|could|would|will|should) (?:you|we|i)(?: (?:talk|speak|chat|say something"
    r"|tell you something))?|(?:would|do) you mind|make sure|(?:from|for) (?:now|here) on|please"
    r"|ok|okay|never ?mind|stays?|for|do me a favou?r|thanks|thank you|sorry|i(?:d|m|ll)?|lets|so"
    r"|and|but|or|that|this|it|to|you|we|were|then|well|also|now|just|hey|hi|oh|right|alright|yeah"
    r"|yes|yep|no|nope|wait|stop|actually|look|listen|really|again|there|is|was|here|today|the|let"
    r"|go|keep|everything|all|a|BEFORE|NEXT)\b"
)

BACK_ON_RECORD: Final = re.compile(
    r"\b(?:(?:lets|let us|can we|could we|we can|we|were|we are|im|i am|i|you can|you|now|its"
    r"|this is|thats|put|go|get|be|and|so|ok"
    r"|okay) )*(?:back on (?:the )?record\b"
    r"(?! \w*(?:player|deck|label|shelf|collection|shop|store))|on (?:the )?record (?:again|now)\b)"
    r"|\b(?:no longer|not|stop being|done being|finished being) off (?:the )?record(?: any ?more)?"
)
CONDITION: Final = re.compile(
    r"\b(?:dont|do not|not to|never|until|till|before|unless|if|when|did you|are you|why"
    r"|without)\b(?! off (?:the )?record)"
)
DENIED_OR_REPORTED: Final = re.compile(
    r"\b(?:not|isnt|arent|wasnt|(?!i |ive )\w+ (?:said|says|told))\b[^.]*$"
)
"""Before words that then end no stretch off the record: "I'm not back on the record"."""


EDGE_WORDS: Final = 60
"""Number of words at each end of a long utterance that are searched for a request."""

LONGEST: Final = timedelta(hours=12)
"""The longest time that a request is for."""

_UNTIL: Final = re.compile(r"\boff (?:the )?record (?:until|till|while|as long as)\b")
_ELSEWHERE: Final = re.compile(
    r"\b(?:recording|recorder|notes|record) (?:of|in|on|from) (?!(?:this|that|it|what|us|me)\b"
    r"|(?:the |our |this )?(?:conversation|chat|call|talk)\b)"
    r"|\bfrom (?:now|here|today) on(?:wards)? (?:\w+ ){0,2}?(?:speak|talk|answer|reply|respond|call"
    r"|address|use|be|give|greet)\b"
)
"""A recording or notes that are not ours, or a wish about how the bot speaks."""

_FORWARD: Final = re.compile(r"\b(?:NEXT|this|these|between)\b")
_BACKWARD: Final = re.compile(r"\b(?:that|thats|it|its|those|them|hear|heard)\b")


_SPAN: Final = re.compile(
    r"\b(?:for|next) (?:the )?(?:next )?((?!a (?:minute|second))(?:[\w-]+ ){1,4}?"
    r"(?:minute|hour)s?)\b"
)
"""A time that a request is for; "a minute" is none."""


def is_elsewhere(text: str) -> bool:
    """Whether an utterance is about a recording or notes that are not the memory's."""
    return _ELSEWHERE.search(normalize(text)) is not None


def end_of_request(text: str, at: datetime) -> datetime | None:
    """When a request that names a time ends, UTC: "for the next ten minutes"; or None.

    Args:
        text: The request.
        at: When it was made, in the user's time zone.
    """
    found = _SPAN.search(normalize(text))
    times = [] if found is None else find_times(f"in {found[1]}", at)
    end = times[0].exact_moment if times else None
    return end if end is not None and end - at <= LONGEST else None


def find_record_request(text: str) -> Command | None:
    """Find a request about what is stored in an utterance."""
    words = _without_middle(normalize(text))
    if _ELSEWHERE.search(words):
        return None
    if (resumed := _find_resume_request(words)) is not None:
        return resumed
    words = PARTITIVE.sub("", words)
    several = LAST_TURNS.search(words)
    for pattern, placeholder in REFERENCES:
        words = pattern.sub(placeholder, words)
    words = REPORTED.sub("reported", words)
    if ERASURE.search(words):
        return Command(CommandKind.SKIP_LAST)
    lasting, asked, withdrawn = (
        pattern.search(words) for pattern in (FROM_NOW_ON, REQUEST, WITHDRAWAL)
    )
    if not (lasting or asked or withdrawn):
        return None
    if lasting:
        return Command(CommandKind.OFF_RECORD)
    if asked and not _has_other_content(words[: asked.start()]):
        last_word = asked.end() - len(asked[0].split()[-1])
        if THAT_AND_MORE.match(words, last_word):
            return Command(CommandKind.SKIP_LAST)
    if _has_other_content(words):
        return Command(CommandKind.OFF_RECORD if _UNTIL.search(words) else CommandKind.SKIP_TURN)
    if withdrawn or several or _refers_back(words):
        return Command(CommandKind.SKIP_LAST, turns=NUMBERS[several[1]] if several else 1)
    return Command(CommandKind.OFF_RECORD)


def _has_other_content(words: str) -> bool:
    """Whether an utterance has content besides requests and courtesies."""
    for pattern in (
        REQUEST,
        WITHDRAWAL,
        ANNOUNCEMENT,
        REGRET,
        COURTESY,
    ):
        words = pattern.sub(" ", words)
    return bool(words.replace(END, " ").strip())


def _without_middle(words: str) -> str:
    """The first and last `EDGE_WORDS` words of a long utterance."""
    parts = words.split()
    if len(parts) <= 2 * EDGE_WORDS:
        return words
    return " ".join((*parts[:EDGE_WORDS], END, *parts[-EDGE_WORDS:]))


def _refers_back(words: str) -> bool:
    """Whether an utterance that is only a request applies to the turns before it."""
    if "BEFORE" in words:
        return True
    if ANNOUNCEMENT.search(words) or _FORWARD.search(words):
        return False
    return _BACKWARD.search(words) is not None


def _find_resume_request(words: str) -> Command | None:
    """Find a clear request to store turns again; others are for the model to find."""
    match = BACK_ON_RECORD.search(words)
    if (
        match is None
        or CONDITION.search(words[: match.end()])
        or DENIED_OR_REPORTED.search(words[: match.start()])
    ):
        return None
    said = words[: match.start()]
    clause, before, after = (
        COURTESY.sub(" ", part).replace(END, " ").strip()
        for part in (said.rpartition(END)[2], said, words[match.end() :])
    )
    return None if clause else Command(CommandKind.ON_RECORD, continues=bool(after) and not before)


MAX_WORDS: Final = 20
"""Maximum number of words; a longer answer has other content."""

_OF_DELETIONS: Final = STOP_STEMS | stems(" ".join(word_sets(__file__)["deletion"]))
"""Stems of a question whether to delete that do not say what."""

_EVERYTHING: Final = re.compile(
    r"\b(?:everything|else|remind|all (?:of )?(?:your|my|you))\b", re.IGNORECASE
)
_UNFINISHED: Final = re.compile(r"\?|…|\.\.")
"""Marks of a question or an unfinished sentence."""

_ALL: Final = (
    r"(?:everything|(?:all|the (?:whole )?lot)(?: of (?:it|that|this|them))?"
    r"|(?:all )?(?:my|the) (?:data|memories)|(?:the )?turns and (?:the )?facts)"
)
_THING_NAMED: Final = rf"(?:{_ALL}|(?:it|that|this|them|those|these)(?: all)?)"
_VERB: Final = r"(?:delete|erase|remove|wipe|forget|clear|scrub|destroy|bin|drop|get rid of)"
_DELETE: Final = rf"(?:(?!forget (?!all|everything)){_VERB} {_THING_NAMED})(?: (?:all|away|out))?"
_YES: Final = (
    r"yes|yeah|yea|yep|yup|aye|definitely|absolutely|certainly|positive|affirmative|correct"
    r"|confirmed|i confirm(?: it| that)?|of course|no doubt(?: about it)?"
    r"|(?:im|i am) (?:(?!not )\w+ )?(?:sure|certain|positive)(?: about (?:it|that))?|please do"
    r"|do (?:it|that|so)|go (?:right )?ahead|go for it|thats (?:right|correct|what i want)"
    rf"|{_DELETE}|i want {_THING_NAMED} (?:all )?(?:gone|deleted|erased|removed|wiped|forgotten)"
)
_NEUTRAL: Final = (
    r"please|thanks|thank you|love|dear|mate|ok|okay|sure|right now|now|just|well|oh|and|so|then"
    r"|go on|for sure|(?:al(?:l )?right|right)(?! $)|really|thats fine|i said|you (?:can|may)"
    r"|i (?:really )?(?:do|am|would)|i (?:do |really )?want (?:it|that|this)|id like(?: you)? to"
    rf"|i (?:do |really )?want(?: you)? to|for good|forever|permanently|completely|{_ALL}"
)
"""Phrases that may accompany a yes but are none. "Forget it" and "I know" withdraw a request."""

_INCOMPLETE_ENDINGS: Final = frozenset({"just", "well", "oh", "and", "so", "then"})
"""Words that a complete answer does not end with."""


def confirms_deletion(text: str, about: str = "") -> bool:
    """Whether an answer as a whole confirms a deletion. "okay" and "sure" alone do not.

    Args:
        text: The answer.
        about: The topic of the deletion, which the answer may name.
    """
    text = truncate_middle(text)
    answer = [word for word in normalize(text).split() if word != END]
    if (
        not answer
        or len(answer) > MAX_WORDS
        or answer[-1] in _INCOMPLETE_ENDINGS
        or _UNFINISHED.search(text)
    ):
        return False
    return (
        answer_pattern(normalize(about).removesuffix(END).strip()).fullmatch(
            "".join(f"{word} " for word in answer)
        )
        is not None
    )


def asks_about(question: str, target: str, quoted: str = "") -> bool:
    """Whether a question is about what would be deleted, by a word of it if it has any.

    Args:
        question: The bot's reply, without what it quotes; its last question counts.
        target: What would be deleted, in words.
        quoted: What the reply quotes.
    """
    asked = next(one for one in reversed(SENTENCE_END.split(question)) if "?" in one)
    about, meant = stems(asked) - _OF_DELETIONS, stems(target)
    other = about or (_EVERYTHING.search(asked) and meant - _OF_DELETIONS)
    return not other or not meant.isdisjoint(about | (stems(quoted) - _OF_DELETIONS))


def confirms(text: str) -> bool:
    """Whether an answer as a whole confirms something other than a deletion."""
    return confirms_deletion(text) and re.search(rf"\b{_VERB}\b", normalize(text)) is None


@lru_cache(maxsize=8)
def answer_pattern(about: str) -> re.Pattern[str]:
    """The pattern of a complete confirmation, which may name the topic of the deletion."""
    naming = rf"|(?:(?:about|of|on)|{_VERB}) (?:my )?{re.escape(about)}" if about else ""
    part = rf"(?:(?:{_YES}|{_NEUTRAL}{naming}) )"
    return re.compile(rf"{part}*(?:{_YES}) {part}*")
