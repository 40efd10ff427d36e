"""What a user does not want kept.

This turn, what they said before it, or what comes until they say otherwise. In any wording,
wherever in the turn.

Only what is surely nothing but a request reaches beyond its own turn; where it may be one, the turn
itself is not kept.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hotmem.understanding.query.utterance import END, normalize

EDGE_WORDS: Final = 60
"""Words at either end of a long utterance among which a request is looked for."""


class Scope(StrEnum):
    """What a request about the record is about."""

    TURN = "turn"
    BEFORE = "before"
    OFF = "off"
    ON = "on"


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """A request about the record.

    Attributes:
        scope: What it is about.
        turns: How many turns of the user's, of `BEFORE`.
        tells: Whether the utterance goes on after an `ON`, on the record.
    """

    scope: Scope
    turns: int = 1
    continues: bool = False


_SAID: Final = r"(?:said|told you|mentioned|shared|admitted|confessed|let slip)"
_SAY: Final = r"(?:say|tell you|share|saying|telling you|sharing)"
_ABOUT_TO: Final = r"(?:(?:about to|going to|gonna|will|want to|wanna|have to|need to) )?"
_PIECE: Final = (
    r"(?:thing|bit|part|sentence|one|message|comment|remark|statement|line|turn|stuff)s?"
)
_NUMBERS: Final = {"two": 2, "couple": 2, "couple of": 2, "three": 3, "few": 3, "2": 2, "3": 3}
_SEVERAL: Final = re.compile(
    rf"\b(?:last|previous) ({'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\b"
)

_PARTITIVE: Final = re.compile(r"\b(?:any|a word|some|all) of (?=(?:this|that|it)\b)")
_REFERENCES: Final = tuple(
    (re.compile(rf"(?<!\w)(?:{pattern})(?! (?:about|of)\b)(?!\w)"), token)
    for token, pattern in (
        (
            "BEFORE",
            rf"(?:what (?:that )?(?:i|ive|i have|id) (?:(?:have )?(?:just|only) )?{_SAID}"
            rf"|(?:the |that |my |those |these |this )?(?:very )?(?:last|previous) (?:(?:{'|'.join(_NUMBERS)}) )?{_PIECE}(?: of mine)?"
            rf"(?: (?:that )?(?:i|ive|i have) (?:just )?{_SAID})?|that (?:last )?{_PIECE}(?: (?:i|ive) (?:just )?{_SAID})?)"
            r"(?: (?:just now|earlier|before|a (?:moment|minute|second) ago))?",
        ),
        (
            "NONE",
            rf"nothing (?:that )?(?:i|im|ill|i am|i will|we) {_ABOUT_TO}{_SAY}(?: (?:next|now|here|today|from (?:now|here) on))?|(?:none"
            rf"|nothing) of (?:this|it)",
        ),
        (
            "ALL",
            rf"(?:anything|everything|whatever|a word|any of what|things)(?: (?:that )?(?:i|im|ill|i am|i will|we) {_ABOUT_TO}{_SAY})?"
            r"(?: (?:next|now|here|today|from (?:now|here) on|after this|until))",
        ),
        (
            "NEXT",
            rf"(?:what|anything|everything|whatever|any of what|a word of what) (?:i|im|ill|i am|i will) {_ABOUT_TO}{_SAY}(?: (?:next|now|here))?"
            rf"|(?:this|the|my) (?:next|following) (?:few )?(?:{_PIECE}|minutes?|moments?)(?: (?:that )?(?:i|im|ill) {_ABOUT_TO}{_SAY})?|(?:this"
            rf"|the) (?:conversation|chat|call)"
            rf"|this {_PIECE}",
        ),
    )
)
"""Words for what was said or will be, and what stands for them below."""

_IT: Final = r"(?:BEFORE|NEXT|ALL|that|this|it|them|those|these)"
_MEMORY: Final = (
    r"(?:(?:(?:your|the|any|my) )?(?:long term )?(?:memory|memories|notes?|records?|database|files?|logs?|history|diary|(?:wee |little )?books?"
    r"|notebook|system|storage)(?: of yours)?"
    r"|(?:whatever|what|anything|everything) (?:you|youre|you are) (?:keep|store|save|write|note|remember)(?:ing)?)"
)
_PLACE: Final = rf"(?:(?:in|into|to|on|from|out of|for|off) {_MEMORY}|on (?:file|record)|anywhere|either|at all|down|away|ever|for (?:now|me|later))"
_STANDS_ALONE: Final = (
    rf"(?= \{END}| {_PLACE}\b| (?:please|ok|okay|right|yeah|yes|no|now|then|though|again|will|would|can|could|and|but|or|so|if|when|while|until"
    rf"|till|because|cause|cos|cuz"
    r"|since|as|i|im|ive|id|ill|my|we|our|he|hes|she|shes|they|the|its|theres|there|thanks|thank|just|actually|really|honestly|alright|like|well"
    r"|oh|you|mate|today|yet|too"
    r"|is|was)\b)"
)
"""What may follow "that" where it stands alone: "that file" is something else."""

_THING: Final = rf"(?:{_IT}{_STANDS_ALONE}|ALL|(?:anything|everything|stuff|things)(?! (?:you|we|they|he|she|in|from|about))\b)"
_KEEP: Final = (
    rf"(?:(?:remember|store|save|keep|record|log|note|retain|memori[sz]e|(?:hold|hang) on ?to|archive|document|transcribe|file)(?: down)? {_THING}"
    rf"|(?:write|jot|note|put|take) (?:down )?{_THING}(?: down)?|(?:put|add|commit|enter|let) {_IT} {_PLACE}"
    rf"|(?:take|make|keep|have) (?:any |a |no )?(?:notes?|records?)(?: (?:of|about|on) {_IT})?{_STANDS_ALONE})(?: {_PLACE})*"
)
_KEEPING: Final = (
    rf"(?:(?:remembering|storing|saving|keeping|recording|logging|noting|memori[sz]ing|transcribing)(?: {_THING})?(?= \{END}| {_PLACE}\b| (?:for"
    rf"|please|now|ok|okay|yeah|right|i|im|ive|my|and|but|until)\b)"
    rf"|(?:remembering|storing|saving|keeping|recording|writing|jotting|noting|putting|taking) {_THING}|(?:taking|making"
    rf"|keeping) (?:any )?(?:notes|records|track))(?: {_PLACE})*"
)
_KEPT: Final = rf"(?:(?:remembered|stored|saved|kept|recorded|logged|noted|written|put|memori[sz]ed|retained|entered|filed)(?: {_PLACE})*|{_PLACE})"
_IMPERATIVE: Final = (
    r"(?:(?:can|could|would|will|must|please) (?:you|we) (?:please |just )?|\byou to (?:please )?"
    r"|(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bthey )(?<!\bpeople )(?<!\bwho )(?<!\bwhy )(?<!\bhow )(?<!\bto )(?<!\bthat )(?<!\bsaid )(?<!\bsays )\b)"
)
"""What stands before an order; "don't" with a subject before it is none."""
_FOR_A_WHILE: Final = (
    r"(?: (?:for (?:(?:a|one|the) (?:little )?(?:bit|while|minute|moment|sec|second|few minutes)|NEXT|now|the rest of \w+ \w+)"
    r"|until (?:i say|further)(?: \w+){0,3}|from (?:now|here) on|here|now|please))*"
)

_FROM_NOW_ON: Final = re.compile(
    rf"{_IMPERATIVE}(?<!\bdont )(?<!\bnot )(?<!\bnever )(?:(?:stop|quit|pause|cease|hold off(?: on)?|refrain from) {_KEEPING}|(?:private"
    rf"|incognito|privacy) mode(?! off)|(?:stop|pause) (?:your |the )?(?:memory|recording|notes)"
    rf"|(?:turn|switch|shut) (?:(?:your|the) )?(?:memory|recording|recorder|notes?(?: taking)?) off|(?:turn|switch|shut) off (?:your "
    rf"|the )?(?:memory|recording|note taking)"
    rf"|(?:can|could|would|will) (?:you|we)(?: please)? (?:not|stop) (?:record(?:ing)?|listen(?:ing)? in|tak(?:e|ing) notes)"
    rf"(?= \{END}| for\b| now| please)"
    rf"|(?:nothing|none of it|zero of it)(?: (?:from|in) (?:this|the) (?:chat|call|conversation))? (?:goes|gets|is|to be|should be) {_KEPT}"
    rf"|(?:want|need) (?:zero|none|nothing)(?: of (?:it|this))? (?:to be )?{_KEPT}"
    rf"|NONE (?:should |must |can |may |is |gets |needs |goes |will |is to |to )*(?:be |get )?{_KEPT}|(?:dont|do not"
    rf"|never) (?:(?:remember|store|save|keep|record|log|note|write down) (?:down )?ALL|(?:take|make|keep) (?:any )?notes(?= \{END}| {_PLACE}\b))"
    rf"|(?:lets|let us|can we|could we|shall we|may we|i want to|id like to|i wanna|we should|we) (?:please )?(?:go|talk|speak|chat|be"
    rf"|do this) (?:\w+ )?off (?:the )?record){_FOR_A_WHILE}"
)
"""What asks for it from here on, whatever else is told."""

_REPORTED: Final = re.compile(
    rf"\b(?:told|said|says|spoke|talked|asked|mentioned|admitted|heard|confided)\b[^{END}A-Z]*(?<!s )(?<!\bbut )(?<!\band )\boff (?:the )?record"
)
"""What somebody said off the record some time is no request."""
_ASKED: Final = re.compile(
    rf"(?:{_IMPERATIVE}(?:dont|do not|never|and not|please not)(?: you dare| ever| even| please)? {_KEEP}"
    rf"|{_IMPERATIVE}(?:dont|do not|never) (?:note|write|save|store|record|log)(?: down)? (?:where|what|who|how|when|which) (?:i|ive|im|we|my)\b"
    rf"|{_IMPERATIVE}(?:dont|do not) (?:you )?(?:go|be|start) {_KEEPING}"
    rf"|(?:you|youre) (?:aint|arent|are not|not) {_KEEPING}|you aint heard (?:this|that|it)"
    rf"|(?:need|want|like) you (?:to not|not to) have {_IT} {_KEPT}|(?:dont|do not|never) be {_KEEPING}"
    rf"|(?:dont|do not) be (?:putting|writing|noting) [^{END}]{{1,60}} {_PLACE}|(?:dont|do not|never) tell {_MEMORY}"
    rf"|(?:there )?(?:can not|cannot|cant|must not|mustnt|should not|shouldnt|may not) be (?:any|a) (?:trace|record|note|sign) of"
    rf"|(?:let|like|want|please let) {_IT}(?: just)? (?:to )?(?:vanish|disappear|go away|die with)|(?:in|goes in) one ear and out the other"
    rf"|(?:can|could|will) you keep a secret(?= (?:\{END} )?\w)|let {_IT} end up there"
    rf"|{_IMPERATIVE}(?<!\bdont )(?<!\bnot )(?<!\bnever )(?:get rid of|lose|drop|wipe|erase|strike|scrub|scratch|delete) that(?= \{END}$)"
    rf"|no (?:recording|saving|storing|noting|remembering|keeping) (?:this|that|it)\b"
    rf"|(?:you|youd|youre) (?:must not|mustnt|should not|shouldnt|may not|need not|neednt|do not need to|dont need to|do not have to|dont have to"
    rf"|better not|not to|not going to|not gonna|not allowed to) {_KEEP}"
    rf"|you (?:can not|cannot|cant|will not|wont) (?!remember){_KEEP}|(?:can|could|would|will) (?:you|we)(?: please)? not {_KEEP}"
    rf"|(?:would|do|if) you mind not {_KEEPING}|(?:rather|prefer|prefer it if|if|wish|hope|sure|like it if)(?: that)? you (?:did not|didnt|dont"
    rf"|do not|wont"
    rf"|would not|wouldnt) {_KEEP}"
    rf"|(?:want|like|need|ask|asking|prefer) you not to {_KEEP}|(?:do not|dont|did not|didnt) want you to {_KEEP}|(?:do not|dont) want you {_KEEPING}"
    rf"|(?:do not|dont|would not|wouldnt) (?:want|like) (?:{_IT}|anything) (?:to be |being |to get |to end up |to go )?{_KEPT}|(?:do not"
    rf"|dont) want (?:any|a) (?:record|note|copy|trace)s? of {_IT}"
    rf"|(?:rather|prefer) (?:if )?{_IT} (?:wasnt|was not|isnt|is not|werent|were not|didnt get) {_KEPT}|no need to {_KEEP}"
    rf"|without (?:(?:you|your) )?{_KEEPING}|without (?:you |your )?(?:{_IT} )?(?:being |getting )?(?:recorded|saved|stored|remembered"
    rf"|written down)|without (?:you )?{_KEEPING}"
    rf"|no (?:notes|recording|records?)(?: (?:of|on|about) {_IT})?(?= \{END}| for (?:NEXT|a|one|now)| please| now| i| ok)"
    rf"|(?:keep|leave|keeping|leaving) {_IT} (?:out of|off) {_MEMORY}|{_IT} (?:stays|should stay|has to stay|needs to stay|must stay|is to stay"
    rf"|stay|can stay) (?:out of|off) {_MEMORY}"
    rf"|(?:{_IT} )?(?:isnt|is not|thats not|not|aint) for (?:your |the )(?:memory|memories|notes|records?|files?|books)"
    rf"|{_IT} (?:isnt|is not|should not|shouldnt|must not|mustnt|can not|cannot|cant|does not|doesnt|will not|wont|need not|neednt|never|not"
    rf"|doesnt need to|does not need to|isnt to|is not to)"
    rf" (?:to )?(?:be |get |gets |go |going |end up )?{_KEPT}|(?:dont|do not|never) let {_IT} (?:be |get |end up |go ){_KEPT}|(?:make sure"
    rf"|see that) {_IT} (?:isnt|is not|doesnt get|does not get|wont be) {_KEPT}"
    rf"|(?:(?:{_IT}|thats|its|and|but) )?(?:(?:is|was|s|are|has to be|should be|must be|stays|be|strictly|all|completely|totally"
    rf"|keep(?: {_IT})?) )*off (?:the )?record(?! (?:player|deck|shop|store|label|sleeve|cover|collection|company|needle"
    rf"|turntable|breaking|high|low))"
    rf"|not to be {_KEPT}|not something i (?:want|wanted) (?:you )?(?:to )?(?:remember|store|save|keep|record|be )?(?:{_KEPT})?"
    rf"|{_IMPERATIVE}(?:forget|delete|erase|ignore) (?:NEXT|(?:that|it|this) (?:afterwards|after this|later|when were done))"
    rf"|{_IMPERATIVE}keep {_IT} (?:to yourself|private|secret|confidential|quiet|hush|under (?:wraps|your hat))(?! {_PIECE})|{_IT} (?:to stay"
    rf"|stays?|should stay|must stay) (?:private|secret|(?:in|inside|within) (?:this room|these (?:four )?walls|here))"
    rf"|{_IT} (?:goes|must go|is to go|should go|can go|does not go|doesnt go) no further"
    rf"|{_IT} (?:does not|doesnt|must not|mustnt|never) leaves? this room"
    rf"|(?:{_IT} is|thats|its) (?:a |our |my )?(?:little |big )?secret(?= \{END}| (?:i|im|ive|id|we|were|weve|but|my|our|ok|so|she|he|they|and)\b)"
    rf"|{_IMPERATIVE}(?:dont|do not|never) tell (?:anyone|anybody|a soul)(?: else)?(?: (?:this|that|it|about (?:this|that|it)))?"
    rf"|forget (?:that )?(?:i|ive) (?:ever |even |just )?{_SAID} (?:this|anything)"
    r"|(?:just |strictly |only )?between (?:you and me|us|me and you|the two of us)(?! (?:we|two|there|three))"
    rf"|you (?:didnt|did not|never) hear(?:d)? (?:{_IT}|anything)(?: from me)?){_FOR_A_WHILE}"
)

_WITHDRAW: Final = (
    r"(?:strike|scrub|scratch|erase|delete|remove|wipe|drop|lose|clear|forget|discard|disregard|ignore|bin|get rid of|cut|unsave"
    r"|undo|take out|take back|dont count)"
)
_WITHDRAWN: Final = re.compile(
    rf"{_IMPERATIVE}(?:{_WITHDRAW} BEFORE(?: {_PLACE})*|BEFORE (?:please )?{_WITHDRAW} (?:that|it)"
    rf"|(?:unhear|unsay|unremember|unsave|unstore) (?:that|it|BEFORE)"
    rf"|i (?:should not|shouldnt|should never) have (?:said|told you|mentioned) (?:that|this|it|anything)"
    rf"|take (?:that|this|it) (?:out of|off|from) {_MEMORY}|{_WITHDRAW} (?:that|this|it) (?:from|out of|off) {_MEMORY}"
    rf"|forget (?:that )?(?:i|ive) (?:ever |even |just )?(?:{_SAID}|brought)(?: (?:that|this|it|anything|up))*"
    r"|(?:pretend|act like) (?:that )?(?:i|you) (?:didnt|did not|never|hadnt) (?:just )?(?:say|said|tell you|told you|mention|mentioned|hear"
    r"|heard)(?: (?:that|this|it|anything))?)"
)
"""What takes the turn before back, at once: it names what was said, unlike "forget that", which
may mean anything."""

_WIPED: Final = re.compile(
    rf"^(?:(?:\w+ ){{0,3}}(?:\{END} )?|(?:oh|oops|ugh)\b[^{END}]*\{END} [^{END}]*\{END} )(?:(?:can|could|would|will) you |you can |please |just )*"
    rf"(?:(?:wipe|erase|strike|delete|scrub|get rid of|take) (?:that|it)(?: back out| out)?(?: again)?"
    rf"(?: \{END} \w| (?:she|he|they|nobody|no one|my|i dont) )|(?:strike|scratch|get rid of) (?:that|it) \{END}$)"
)
"""What takes it back with the reason why, or at a stroke: "wipe that, she doesn't know yet"."""

_REWORDING: Final = re.compile(r"(?:forget|ignore|disregard|scratch|strike)\b")
"""What takes back with other words to follow: "forget what I said about Bonn, it was Berlin"."""

_THAT: Final = re.compile(rf"\bthat \{END} \w")
"""A request about what was said, and then something else."""

_REGRETTED: Final = re.compile(r"\b(forget|delete|erase|remove) (?:it|that)\b")

_ANNOUNCED: Final = re.compile(
    r"\b(?:(?:(?:i want to|i need to|i have to|i wanna|id like to|can i|could i|may i|let me|im going to|im gonna|im about to|i am going to) "
    r"(?:tell|say|share|ask|confess|admit)(?: you)?|ive got|i have|heres|here is|theres)(?: (?:something|a secret|one thing|a thing"
    r"|something (?:private|personal|secret)))"
    r"(?: (?:to tell you|to say))?)\b"
)
_REGRET: Final = re.compile(
    r"\b(?:i (?:should not|shouldnt|should never) have (?:said|told you|mentioned)(?: (?:that|this|it|anything))?|i (?:didnt"
    r"|did not) mean to (?:say|tell you|mention)(?: (?:that|this|it))?"
    r"|(?:that|it) (?:slipped out|was private|was a secret)|(?:thats|its|this is|it is|that is) (?:private|personal|a secret|confidential)"
    r"|i (?:have )?said too much|i take (?:that|it) back|(?:on )?second thoughts?)\b"
)
_POLITE: Final = re.compile(
    r"\b(?:(?:can|could|would|will|should) (?:you|we|i)(?: (?:talk|speak|chat|say something|tell you something))?|(?:would|do) you mind"
    r"|if (?:you can|you could|you dont mind|possible|thats ok(?:ay)?)"
    r"|(?:i|id|i would) (?:want|need|like|love|prefer|appreciate|ask)(?: it)?(?: if)?(?: you)?(?: to)?|id rather|make sure|be sure|promise(?: me)?"
    r"|i mean|you know|hang on|hold on|one (?:sec|second|moment)"
    r"|will you|would you|thank you|from (?:now|here) on|for (?:a|one) (?:bit|while|minute|moment|second|sec)|this time|kind of|sort of"
    r"|the following|remember that"
    r"|please|ok|okay|never ?mind|ugh|oops|oh (?:god|dear|no)"
    r"|stays?|for|do me a favou?r|i need to vent|allowed|feel free|i|id|lets|you (?:can|could|may)|so|and|but|or|that|this|it|to"
    r"|you|im|were|now|then|just|hey|hi|oh|well|also|right|yeah|yes"
    r"|yep|no|nope|wait|stop|actually|thanks|sorry|look|listen|alright|like|really|maybe|again|there"
    r"|is|was|here|today|mate|dear|love|buddy|computer|assistant|the|though|let|lets|go|keep|everything|all|strictly|a|is that ok|good|great|fine"
    r"|cool|BEFORE|NEXT|ALL|NONE)\b"
)

_BACK_ON: Final = re.compile(
    r"\b(?:(?:lets|let us|can we|could we|we can|we|were|we are|im|i am|i|you can|you|now|its|this is|thats|put|go|get|be|and|so|ok"
    r"|okay) )*(?:back on (?:the )?record|on (?:the )?record (?:again|now))"
    r"|\b(?:no longer|not|stop being|done being|finished being) off (?:the )?record(?: any ?more)?"
)
_RESUMED: Final = re.compile(
    r"\b(?:you can |you may |start |carry on )?listen(?:ing)? (?:properly )?again(?: now)?"
    r"|\b(?:feel free to|(?:youre|you are) (?:allowed|free|welcome) to|now you (?:can|may))"
    r" (?:(?:start|begin) )?(?:remember|record|store|save|keep|take notes|write)(?:ing)?(?: (?:things|stuff|everything|what i say|it|down|again))*"
    r"|\b(?:memory|recording|notes?) (?:back )?on(?: again)?|\bback to (?:normal|recording|remembering|saving|storing|taking notes)|"
    r"\b(?:start|resume|begin|continue|restart|go back to|carry on|get back to) (?:remembering|recording|saving|storing|taking notes|making notes"
    r"|keeping (?:notes|track|records)|writing|noting|logging)"
    r"(?: (?:things|stuff|everything|this|that|it|down|again|what i say|from (?:now|here) on))*"
    r"|\b(?:remember|record|store|save|keep|note|take notes|make notes|keep notes|write)(?: (?:things|stuff|everything|what i (?:say|tell you)"
    r"|what we say|this|it|down|track))* (?:again|now|from (?:now|here) on|normally|as (?:usual|before|normal))"
    r"|\b(?:turn|switch|put) (?:your |the )?(?:memory|recording|recorder|notes?(?: taking)?) (?:back )?on(?: again)?|\b(?:turn"
    r"|switch) (?:back )?on (?:your |the )?(?:memory|recording)(?: again)?"
    r"|\b(?:resume|restart|unpause) (?:your |the )?(?:recording|notes|memory|saving)"
    r"|\b(?:thats (?:it|all|the end)|that was (?:it|all)|end|done|finished|over) (?:with |of |for )?(?:the |being )?(?:off (?:the )?record|private"
    r"|secret|secrets)(?: (?:part|bit|stuff|thing|chat))?"
    r"|\b(?:the )?(?:secret|private|off the record) (?:part|bit|stuff) is (?:over|done|finished)"
)
_NOT_YET: Final = re.compile(
    r"\b(?:dont|do not|not to|never|until|till|before|unless|if|when|did you|are you|why|without)\b(?! off (?:the )?record)"
)
_INFINITIVE: Final = re.compile(r"(?:(?<!\byou )\bto|\b(?:i|we|im|ill|gonna)) $")
_EXPLAINED: Final = re.compile(
    r"\b(?:what (?:does|is|do you mean)|means?|meaning|phrase|expression|define|translate)\b"
)


def find_record_request(text: str) -> RecordRequest | None:
    """What an utterance asks about the record, if it does."""
    words = _without_middle(normalize(text))
    if (resumed := _find_resume_request(words)) is not None:
        return resumed
    words = _PARTITIVE.sub("", words)
    several = _SEVERAL.search(words)
    for pattern, token in _REFERENCES:
        words = pattern.sub(token, words)
    words = _REPORTED.sub("reported", words)
    if _REGRET.search(words):
        words = _REGRETTED.sub(r"\1 BEFORE", words)
    if _WIPED.search(words):
        return RecordRequest(Scope.BEFORE)
    lasting, asked, withdrawn = (
        pattern.search(words) for pattern in (_FROM_NOW_ON, _ASKED, _WITHDRAWN)
    )
    if not (lasting or asked or withdrawn) or (
        _EXPLAINED.search(words) and text.rstrip().endswith("?")
    ):
        return None
    if lasting:
        return RecordRequest(Scope.OFF)
    whole, announced = words, _ANNOUNCED.search(words)
    if (
        asked
        and not _has_other_content(words[: asked.start()])
        and _THAT.match(words, asked.end() - len(words[asked.start() : asked.end()].split()[-1]))
    ):
        return RecordRequest(Scope.BEFORE)
    if _has_other_content(words):
        return (
            None
            if withdrawn and not asked and _REWORDING.match(withdrawn[0])
            else RecordRequest(Scope.TURN)
        )
    if _refers_back(
        whole,
        said_before=withdrawn is not None or several is not None,
        announced=announced is not None,
    ):
        return RecordRequest(Scope.BEFORE, _NUMBERS[several[1]] if several else 1)
    return RecordRequest(Scope.OFF)


def _has_other_content(words: str) -> bool:
    """Whether something is told besides requests and courtesies."""
    for pattern in (_ASKED, _WITHDRAWN, _ANNOUNCED, _REGRET, _POLITE):
        words = pattern.sub(" ", words)
    return bool(words.replace(END, " ").strip())


def _without_middle(words: str) -> str:
    """A long utterance without its middle."""
    parts = words.split()
    return (
        words
        if len(parts) <= 2 * EDGE_WORDS
        else " ".join((*parts[:EDGE_WORDS], END, *parts[-EDGE_WORDS:]))
    )


def _refers_back(words: str, *, said_before: bool, announced: bool) -> bool:
    """Whether nothing but a request means what was said before it."""
    if said_before or "BEFORE" in words:
        return True
    if announced or re.search(r"\b(?:NEXT|ALL|NONE|this|these|between)\b", words):
        return False
    return re.search(r"\b(?:that|thats|it|its|those|them|hear|heard)\b", words) is not None


def _find_resume_request(words: str) -> RecordRequest | None:
    """A request to keep things again: sure words anywhere, others only in a sentence of their own.

    In doubt nothing is kept.
    """
    for pattern in (_BACK_ON, _RESUMED):
        match = pattern.search(words)
        if (
            match is None
            or _NOT_YET.search(words[: match.end()])
            or _INFINITIVE.search(words[: match.start()])
        ):
            continue
        before, after = (
            _POLITE.sub(" ", part).replace(END, " ").strip()
            for part in (words[: match.start()], words[match.end() :])
        )
        ended = words[match.end() :].lstrip().startswith(END)
        if pattern is _BACK_ON or (not before and (not after or ended)):
            return RecordRequest(Scope.ON, continues=bool(after) and not before)
    return None
