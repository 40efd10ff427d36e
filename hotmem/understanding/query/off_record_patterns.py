"""Patterns of requests not to store something, on text from `utterance.normalize`."""

import re
from typing import Final

from hotmem.understanding.query.utterance import END

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
            "NONE",
            rf"nothing (?:that )?(?:i|im|ill|i am|i will|we) {_ABOUT_TO}{_SAY}(?: (?:next|now"
            rf"|here|today|from (?:now|here) on))?|(?:none"
            rf"|nothing) of (?:this|it)",
        ),
        (
            "ALL",
            rf"(?:anything|everything|whatever|a word|any of what|things)(?: (?:that )?(?:i"
            rf"|im|ill|i am|i will|we) {_ABOUT_TO}{_SAY})?"
            r"(?: (?:next|now|here|today|from (?:now|here) on|after this|until))",
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

_IT: Final = r"(?:BEFORE|NEXT|ALL|that|this|it|them|those|these)"
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
    rf"(?:{_IT}{_STANDS_ALONE}|ALL|(?:anything|everything|stuff|things)(?! (?:you|we|they|he|she"
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
    rf"{_IMPERATIVE}(?<!\bdont )(?<!\bnot )(?<!\bnever )(?:(?:stop|quit|pause|cease"
    rf"|hold off(?: on)?|refrain from) {_KEEPING}|(?:private"
    rf"|incognito|privacy) mode(?! off)|(?:stop|pause) (?:your |the )?(?:memory|recording|notes)"
    rf"|(?:turn|switch|shut) (?:(?:your|the) )?(?:memory|recording|recorder"
    rf"|notes?(?: taking)?) off|(?:turn|switch|shut) off (?:your "
    rf"|the )?(?:memory|recording|note taking)"
    rf"|(?:can|could|would|will) (?:you|we)(?: please)? (?:not|stop) (?:record(?:ing)?"
    rf"|listen(?:ing)? in|tak(?:e|ing) notes)"
    rf"(?= \{END}| for\b| now| please)"
    rf"|(?:nothing|none of it|zero of it)(?: (?:from|in) (?:this|the) (?:chat|call"
    rf"|conversation))? (?:goes|gets|is|to be|should be) {_KEPT}"
    rf"|(?:want|need) (?:zero|none|nothing)(?: of (?:it|this))? (?:to be )?{_KEPT}"
    rf"|NONE (?:should |must |can |may |is |gets |needs |goes |will |is to |to )*(?:be "
    rf"|get )?{_KEPT}|(?:dont|do not"
    rf"|never) (?:(?:remember|store|save|keep|record|log|note|write down) (?:down )?ALL|(?:take"
    rf"|make|keep) (?:any )?notes(?= \{END}| {_PLACE}\b))"
    rf"|(?:lets|let us|can we|could we|shall we|may we|i want to|id like to|i wanna|we should"
    rf"|we) (?:please )?(?:go|talk|speak|chat|be"
    rf"|do this) (?:\w+ )?off (?:the )?record){_FOR_A_WHILE}"
)
"""Requests not to store anything from now on, whatever else the turn says."""

REPORTED: Final = re.compile(
    rf"\b(?:told|said|says|spoke|talked|asked|mentioned|admitted|heard"
    rf"|confided)\b[^{END}A-Z]*(?<!s )(?<!\bbut )(?<!\band )\boff (?:the )?record"
)
"""Reports of what somebody said off the record, which are not requests."""
REQUEST: Final = re.compile(
    rf"(?:{_IMPERATIVE}(?:dont|do not|never|and not|please not)(?: you dare| ever| even"
    rf"| please)? {_KEEP}"
    rf"|{_IMPERATIVE}(?:dont|do not|never) (?:note|write|save|store|record"
    rf"|log)(?: down)? (?:where|what|who|how|when|which) (?:i|ive|im|we|my)\b"
    rf"|{_IMPERATIVE}(?:dont|do not) (?:you )?(?:go|be|start) {_KEEPING}"
    rf"|(?:you|youre) (?:aint|arent|are not|not) {_KEEPING}|you aint heard (?:this|that|it)"
    rf"|(?:need|want|like) you (?:to not|not to) have {_IT} {_KEPT}|(?:dont|do not"
    rf"|never) be {_KEEPING}"
    rf"|(?:dont|do not) be (?:putting|writing|noting) [^{END}]{{1,60}} {_PLACE}|(?:dont|do not"
    rf"|never) tell {_MEMORY}"
    rf"|(?:there )?(?:can not|cannot|cant|must not|mustnt|should not|shouldnt|may not) be (?:any"
    rf"|a) (?:trace|record|note|sign) of"
    rf"|(?:let|like|want|please let) {_IT}(?: just)? (?:to )?(?:vanish|disappear|go away"
    rf"|die with)|(?:in|goes in) one ear and out the other"
    rf"|(?:can|could|will) you keep a secret(?= (?:\{END} )?\w)|let {_IT} end up there"
    rf"|{_IMPERATIVE}(?<!\bdont )(?<!\bnot )(?<!\bnever )(?:get rid of|lose|drop|wipe|erase"
    rf"|strike|scrub|scratch|delete) that(?= \{END}$)"
    rf"|no (?:recording|saving|storing|noting|remembering|keeping) (?:this|that|it)\b"
    rf"|(?:you|youd|youre) (?:must not|mustnt|should not|shouldnt|may not|need not|neednt"
    rf"|do not need to|dont need to|do not have to|dont have to"
    rf"|better not|not to|not going to|not gonna|not allowed to) {_KEEP}"
    rf"|you (?:can not|cannot|cant|will not|wont) (?!remember){_KEEP}|(?:can|could|would"
    rf"|will) (?:you|we)(?: please)? not {_KEEP}"
    rf"|(?:would|do|if) you mind not {_KEEPING}|(?:rather|prefer|prefer it if|if|wish|hope|sure"
    rf"|like it if)(?: that)? you (?:did not|didnt|dont"
    rf"|do not|wont"
    rf"|would not|wouldnt) {_KEEP}"
    rf"|(?:want|like|need|ask|asking|prefer) you not to {_KEEP}|(?:do not|dont|did not"
    rf"|didnt) want you to {_KEEP}|(?:do not|dont) want you {_KEEPING}"
    rf"|(?:do not|dont|would not|wouldnt) (?:want|like) (?:{_IT}|anything) (?:to be |being "
    rf"|to get |to end up |to go )?{_KEPT}|(?:do not"
    rf"|dont) want (?:any|a) (?:record|note|copy|trace)s? of {_IT}"
    rf"|(?:rather|prefer) (?:if )?{_IT} (?:wasnt|was not|isnt|is not|werent|were not"
    rf"|didnt get) {_KEPT}|no need to {_KEEP}"
    rf"|without (?:(?:you|your) )?{_KEEPING}|without (?:you |your )?(?:{_IT} )?(?:being "
    rf"|getting )?(?:recorded|saved|stored|remembered"
    rf"|written down)|without (?:you )?{_KEEPING}"
    rf"|no (?:notes|recording|records?)(?: (?:of|on|about) {_IT})?(?= \{END}| for (?:NEXT|a|one"
    rf"|now)| please| now| i| ok)"
    rf"|(?:keep|leave|keeping|leaving) {_IT} (?:out of|off) {_MEMORY}|{_IT} (?:stays|should stay"
    rf"|has to stay|needs to stay|must stay|is to stay"
    rf"|stay|can stay) (?:out of|off) {_MEMORY}"
    rf"|(?:{_IT} )?(?:isnt|is not|thats not|not|aint) for (?:your |the )(?:memory|memories|notes"
    rf"|records?|files?|books)"
    rf"|{_IT} (?:isnt|is not|should not|shouldnt|must not|mustnt|can not|cannot|cant|does not"
    rf"|doesnt|will not|wont|need not|neednt|never|not"
    rf"|doesnt need to|does not need to|isnt to|is not to)"
    rf" (?:to )?(?:be |get |gets |go |going |end up )?{_KEPT}|(?:dont|do not"
    rf"|never) let {_IT} (?:be |get |end up |go ){_KEPT}|(?:make sure"
    rf"|see that) {_IT} (?:isnt|is not|doesnt get|does not get|wont be) {_KEPT}"
    rf"|(?:(?:{_IT}|thats|its|and|but) )?(?:(?:is|was|s|are|has to be|should be|must be|stays|be"
    rf"|strictly|all|completely|totally"
    rf"|keep(?: {_IT})?) )*off (?:the )?record(?! (?:player|deck|shop|store|label|sleeve|cover"
    rf"|collection|company|needle"
    rf"|turntable|breaking|high|low))"
    rf"|not to be {_KEPT}|not something i (?:want|wanted) (?:you )?(?:to )?(?:remember|store|save"
    rf"|keep|record|be )?(?:{_KEPT})?"
    rf"|{_IMPERATIVE}(?:forget|delete|erase|ignore) (?:NEXT|(?:that|it|this) (?:afterwards"
    rf"|after this|later|when were done))"
    rf"|{_IMPERATIVE}keep {_IT} (?:to yourself|private|secret|confidential|quiet|hush"
    rf"|under (?:wraps|your hat))(?! {_PIECE})|{_IT} (?:to stay"
    rf"|stays?|should stay|must stay) (?:private|secret|(?:in|inside|within) (?:this room"
    rf"|these (?:four )?walls|here))"
    rf"|{_IT} (?:goes|must go|is to go|should go|can go|does not go|doesnt go) no further"
    rf"|{_IT} (?:does not|doesnt|must not|mustnt|never) leaves? this room"
    rf"|(?:{_IT} is|thats|its) (?:a |our |my )?(?:little |big )?secret(?= \{END}| (?:i|im|ive|id"
    rf"|we|were|weve|but|my|our|ok|so|she|he|they|and)\b)"
    rf"|{_IMPERATIVE}(?:dont|do not|never) tell (?:anyone|anybody|a soul)(?: else)?(?: (?:this"
    rf"|that|it|about (?:this|that|it)))?"
    rf"|forget (?:that )?(?:i|ive) (?:ever |even |just )?{_SAID} (?:this|anything)"
    r"|(?:just |strictly |only )?between (?:you and me|us|me and you|the two of us)(?! (?:we|two"
    r"|there|three))"
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

REWORDING: Final = re.compile(r"(?:forget|ignore|disregard|scratch|strike)\b")
"""Withdrawals followed by a correction: "forget what I said about Bonn, it was Berlin"."""

THAT_AND_MORE: Final = re.compile(rf"\bthat \{END} \w")
"""A request that ends with "that", followed by another sentence."""

REGRETTED: Final = re.compile(r"\b(forget|delete|erase|remove) (?:it|that)\b")

ANNOUNCEMENT: Final = re.compile(
    r"\b(?:(?:(?:i want to|i need to|i have to|i wanna|id like to|can i|could i|may i|let me"
    r"|im going to|im gonna|im about to|i am going to) "
    r"(?:tell|say|share|ask|confess|admit)(?: you)?|ive got|i have|heres|here is"
    r"|theres)(?: (?:something|a secret|one thing|a thing"
    r"|something (?:private|personal|secret)))"
    r"(?: (?:to tell you|to say))?)\b"
)
REGRET: Final = re.compile(
    r"\b(?:i (?:should not|shouldnt|should never) have (?:said|told you|mentioned)(?: (?:that"
    r"|this|it|anything))?|i (?:didnt"
    r"|did not) mean to (?:say|tell you|mention)(?: (?:that|this|it))?"
    r"|(?:that|it) (?:slipped out|was private|was a secret)|(?:thats|its|this is|it is"
    r"|that is) (?:private|personal|a secret|confidential)"
    r"|i (?:have )?said too much|i take (?:that|it) back|(?:on )?second thoughts?)\b"
)
COURTESY: Final = re.compile(
    r"\b(?:(?:can|could|would|will|should) (?:you|we|i)(?: (?:talk|speak|chat|say something"
    r"|tell you something))?|(?:would|do) you mind"
    r"|if (?:you can|you could|you dont mind|possible|thats ok(?:ay)?)"
    r"|(?:i|id|i would) (?:want|need|like|love|prefer|appreciate"
    r"|ask)(?: it)?(?: if)?(?: you)?(?: to)?|id rather|make sure|be sure|promise(?: me)?"
    r"|i mean|you know|hang on|hold on|one (?:sec|second|moment)"
    r"|will you|would you|thank you|from (?:now|here) on|for (?:a|one) (?:bit|while|minute|moment"
    r"|second|sec)|this time|kind of|sort of"
    r"|the following|remember that"
    r"|please|ok|okay|never ?mind|ugh|oops|oh (?:god|dear|no)"
    r"|stays?|for|do me a favou?r|i need to vent|allowed|feel free|i|id|lets|you (?:can|could"
    r"|may)|so|and|but|or|that|this|it|to"
    r"|you|im|were|now|then|just|hey|hi|oh|well|also|right|yeah|yes"
    r"|yep|no|nope|wait|stop|actually|thanks|sorry|look|listen|alright|like|really|maybe|again"
    r"|there"
    r"|is|was|here|today|mate|dear|love|buddy|computer|assistant|the|though|let|lets|go|keep"
    r"|everything|all|strictly|a|is that ok|good|great|fine"
    r"|cool|BEFORE|NEXT|ALL|NONE)\b"
)

BACK_ON_RECORD: Final = re.compile(
    r"\b(?:(?:lets|let us|can we|could we|we can|we|were|we are|im|i am|i|you can|you|now|its"
    r"|this is|thats|put|go|get|be|and|so|ok"
    r"|okay) )*(?:back on (?:the )?record\b"
    r"(?! \w*(?:player|deck|label|shelf|collection|shop|store))|on (?:the )?record (?:again|now)\b)"
    r"|\b(?:no longer|not|stop being|done being|finished being) off (?:the )?record(?: any ?more)?"
)
RESUME: Final = re.compile(
    r"\b(?:you can |you may |start |carry on )?listen(?:ing)? (?:properly )?again(?: now)?"
    r"|\b(?:feel free to|(?:youre|you are) (?:allowed|free|welcome) to|now you (?:can|may))"
    r" (?:(?:start|begin) )?(?:remember|record|store|save|keep|take notes"
    r"|write)(?:ing)?(?: (?:things|stuff|everything|what i say|it|down|again))*"
    r"|\b(?:memory|recording|notes?) (?:back )?on(?: again)?|\bback to (?:normal|recording"
    r"|remembering|saving|storing|taking notes)|"
    r"\b(?:start|resume|begin|continue|restart|go back to|carry on|get back to) (?:remembering"
    r"|recording|saving|storing|taking notes|making notes"
    r"|keeping (?:notes|track|records)|writing|noting|logging)"
    r"(?: (?:things|stuff|everything|this|that|it|down|again|what i say|from (?:now|here) on))*"
    r"|\b(?:remember|record|store|save|keep|note|take notes|make notes|keep notes"
    r"|write)(?: (?:things|stuff|everything|what i (?:say|tell you)"
    r"|what we say|this|it|down|track))* (?:again|now|from (?:now|here) on|normally|as (?:usual"
    r"|before|normal))"
    r"|\b(?:turn|switch|put) (?:your |the )?(?:memory|recording|recorder"
    r"|notes?(?: taking)?) (?:back )?on(?: again)?|\b(?:turn"
    r"|switch) (?:back )?on (?:your |the )?(?:memory|recording)(?: again)?"
    r"|\b(?:resume|restart|unpause) (?:your |the )?(?:recording|notes|memory|saving)"
    r"|\b(?:thats (?:it|all|the end)|that was (?:it|all)|end|done|finished|over) (?:with |of "
    r"|for )?(?:the |being )?(?:off (?:the )?record|private"
    r"|secret|secrets)(?: (?:part|bit|stuff|thing|chat))?"
    r"|\b(?:the )?(?:secret|private|off the record) (?:part|bit|stuff) is (?:over|done|finished)"
)
CONDITION: Final = re.compile(
    r"\b(?:dont|do not|not to|never|until|till|before|unless|if|when|did you|are you|why"
    r"|without)\b(?! off (?:the )?record)"
)
DENIED_OR_REPORTED: Final = re.compile(
    r"\b(?:not|isnt|arent|wasnt|(?:he|she|they|who|somebody|someone) (?:said|says|told))\b[^.]*$"
)
"""Before words that then end no stretch off the record: "I'm not back on the record"."""

INFINITIVE: Final = re.compile(r"(?:(?<!\byou )\bto|\b(?:i|we|im|ill|gonna)) $")
ASKS_MEANING: Final = re.compile(
    r"\b(?:what (?:does|is|do you mean)|means?|meaning|phrase|expression|define|translate)\b"
)
