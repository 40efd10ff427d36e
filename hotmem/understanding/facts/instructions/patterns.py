"""Patterns of the words that standing instructions begin with."""

import re
from dataclasses import dataclass
from typing import Final


def _alternatives(text: str) -> str:
    """Build a pattern of words and phrases separated by "/", with flexible spaces."""
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in text.split("/"))


_NOT: Final = r"(?:do\s+not|don['’]?t|never|please\s+not)"
_I_D: Final = r"i(?:['’]?d|\s+would)"
_YOU_MAY: Final = (
    r"you(?:['’]re|\s+are)?\s+(?:can|could|may|must|should|shall|need\s+to"
    r"|have\s+to|had\s+better|to)"
)
POLITE_OPENING: Final = (
    r"(?:(?:and|but|so|also|or|then|now|please|kindly|ok(?:ay)?|oh|hey|hi|hello|well|right"
    r"|listen|look|um+|uh+|er+|erm|just|actually|yes|yeah"
    r"|first\s+things\s+first|one\s+more\s+thing|by\s+the\s+way|if\s+you\s+(?:can|could|would"
    r"|don['’]?t\s+mind)"
    r"|remember(?:\s+that)?(?:\s+to)?|(?:don['’]?t|never)\s+forget\s+to|make\s+sure(?:"
    r"\s+(?:that\s+)?you|\s+to)?|be\s+sure\s+to|try\s+(?:and|to)"
    rf"|(?:can|could|would|will)\s+you|{_YOU_MAY}|i\s+need\s+you\s+to|(?:i\s+want|{_I_D}"
    r"\s+(?:like|love|prefer|want))\s+you\s+to|i\s+prefer\s+you\s+to"
    r"|i(?:['’]m|\s+am)\s+(?:asking|begging)\s+you\s+to|it(?:['’]s|\s+is)\s+important(?:"
    r"\s+to\s+me)?\s+that\s+you)[,\s]+)*"
)
"""What may precede an instruction and is not part of it."""

_LASTING: Final = (
    r"(?:from\s+(?:now|here|today|this\s+day|tomorrow)\s+on(?:wards?)?|going\s+forward|in"
    r"\s+(?:the\s+)?future|for\s+(?:the\s+)?future(?:\s+reference)?"
    r"|as\s+a\s+(?:general\s+)?rule|by\s+default|at\s+all\s+times)"
)
_EVERY: Final = r"(?:when\s?ever|every\s+time|each\s+time|any\s+time|anytime)"

SPEECH_VERBS: Final = {
    "address": "addressing", "apologise": "apologising", "apologize": "apologizing",
    "ask": "asking", "assume": "assuming", "bring": "bringing", "call": "calling",
    "comment": "commenting", "correct": "correcting", "criticise": "criticising",
    "curse": "cursing", "discuss": "discussing", "exaggerate": "exaggerating",
    "explain": "explaining", "flatter": "flattering", "interrupt": "interrupting",
    "joke": "joking", "judge": "judging", "lecture": "lecturing", "let on": "letting on",
    "list": "listing", "mention": "mentioning", "mumble": "mumbling", "nag": "nagging",
    "name": "naming", "offer": "offering", "patronise": "patronising", "praise": "praising",
    "propose": "proposing", "push": "pushing", "quote": "quoting", "read": "reading",
    "recommend": "recommending", "refer": "referring", "remind": "reminding",
    "repeat": "repeating", "reveal": "revealing", "say": "saying", "scold": "scolding",
    "share": "sharing", "spoil": "spoiling", "suggest": "suggesting", "sugarcoat": "sugarcoating",
    "sugar-coat": "sugar-coating", "swear": "swearing", "talk": "talking", "speak": "speaking",
    "tell": "telling", "use": "using", "give": "giving", "spell": "spelling",
    "remember": "remembering", "answer": "answering", "respond": "responding",
    "reply": "replying", "add": "adding", "start": "starting", "end": "ending",
}  # fmt: skip
"""Verbs of speaking, with their gerunds."""

_SAYS: Final = _alternatives("/".join(SPEECH_VERBS))
_SAYING: Final = _alternatives("/".join(SPEECH_VERBS.values()))
_ABOUT: Final = r"(?:about|of|up|on)"
_THAT: Final = r"(?:it|that|this|them|him|her)\b(?!['’])"

_UNIT: Final = _alternatives(
    "celsius/centigrade/fahrenheit/kelvin/metric/imperial/si units/miles/kilometres/kilometers/"
    "km/feet/inches/metres/meters/centimetres/centimeters/kilos/kilograms/grams/pounds/ounces/"
    "stone/litres/liters/gallons/pints/cups/euros/dollars/sterling/yen/francs/millimoles/24 hour/"
    "24-hour/twenty four hour/twenty-four hour/twenty-four-hour/12 hour/12-hour/twelve hour/"
    "twelve-hour/military time/utc/am and pm"
)
_MEASURES: Final = _alternatives(
    "temperature/temperatures/distance/distances/weight/weights/price/prices/time/times/date/"
    "dates/height/heights/length/lengths/measurement/measurements/amount/amounts/quantity/"
    "quantities/speed/speeds/unit/units/number/numbers/reading/readings/recipe/recipes/degrees"
)
_MANY_MEASURES: Final = _alternatives(
    "temperatures/distances/weights/prices/times/dates/heights/lengths/measurements/amounts/quantities/speeds/units/numbers/readings/recipes/degrees"
)
_TONGUES: Final = _alternatives(
    "english/german/french/spanish/italian/portuguese/russian/chinese/mandarin/cantonese/"
    "japanese/korean/arabic/hindi/urdu/bengali/dutch/swedish/norwegian/danish/finnish/polish/"
    "czech/turkish/greek/hebrew/welsh/irish/gaelic/catalan/basque/ukrainian/romanian/hungarian/"
    "vietnamese/thai/swahili/plain english/simple english/british english/american english/"
    "plain language/simple language/full sentences/short sentences"
)
_REPLIES: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|sentences?|summar(?:y|ies)"
    r"|descriptions?|messages?|instructions|suggestions|words|wording"
    r"|directions)"
)
_TONE: Final = _alternatives(
    "short/shorter/brief/briefer/concise/simple/simpler/plain/light/formal/informal/casual/"
    "friendly/polite/professional/positive/factual/to the point/snappy/clear/succinct/honest/"
    "blunt/direct/frank/straight/gentle/patient/strict/encouraging/kind/serious/detailed/long/"
    "longer/thorough/precise/quick/literal/neutral/upbeat/warm/sweet/clean/family-friendly/tight/"
    "minimal/straightforward/short and sweet/low-key/respectful/nice/calm/cheerful/discreet/"
    "funny/tactful/considerate/careful about/clearer/slower/friendlier/plainer/quieter"
)
_CONTENT: Final = _alternatives(
    "jokes/puns/emojis/emoji/spoilers/jargon/slang/small talk/chit-chat/swearing/swear words/"
    "bad language/nicknames/pet names/lectures/lists/bullet points/questions about/questions on/"
    "compliments/flattery/advice/tips/pep talks/sermons/reminders about/comments about/"
    "talk about/mention of/mentions of/suggestions/apologies/filler/fillers/chatter/waffle/"
    "waffling/sarcasm/baby talk/abbreviations/acronyms/politics/reading/web addresses/links/"
    "upselling/motivational quotes/follow-up questions/rambling/recommendations"
)
_STATES: Final = _alternatives(
    "upset/sad/low/down/tired/stressed/angry/cross/anxious/worried/driving/cooking/sleeping/"
    "asleep/working/in a meeting/at work/in bed/crying/ill/sick/depressed/panicking/overwhelmed/"
    "busy/grumpy/in a mood/in a bad mood/nervous/lonely/on the phone/hungry/in a hurry/in a rush/"
    "with my/with the/on my"
)
_HOURS: Final = _alternatives(
    "six/seven/eight/nine/ten/eleven/noon/midnight/lunch/breakfast/dinner/coffee/work/dark/school/bedtime/half/quarter"
)
_NON_NAMES: Final = _alternatives(
    "a/an/the/back/when/whenever/if/on/at/in/up/later/tomorrow/tonight/today/now/again/after/"
    "before/as soon/once/any time/anytime/this/next/every/for/from/to/about/or/and/but/it/that/"
    "one/two/my/your/his/her/crazy/mad/old-fashioned/old fashioned/stupid/cynical/naive/"
    "sentimental/paranoid/weird/silly/lazy/picky/biased/ungrateful/first thing/around/right/"
    "maybe/sometime/soon/out/over/what/whatever/names/while/until/till/monday/tuesday/wednesday/"
    "thursday/friday/saturday/sunday/directly/immediately/straight/collect/another/some/"
    "an ambulance/only if/and tell/only when/only in"
)
ONE_TIME_WORDS: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|right\s+now|just\s+now|for\s+now|this\s+(?:time|once|morning"
    r"|afternoon|evening|week|weekend|second)|yet|just\s+this"
    r"|for\s+(?:a|one)\s+(?:minute|moment|second|while|bit)|next\s+(?:time|week)|at\s+the"
    r"\s+moment)\b",
    re.IGNORECASE,
)
LASTING_WORDS: Final = re.compile(rf"\b(?:always|ever|never|{_LASTING}|{_EVERY})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The beginning of an instruction.

    Attributes:
        form: Its pattern.
        verb: Whether an imperative must follow.
        once: Whether "tonight", "for now" and similar words make it a one-time request.
    """

    form: re.Pattern[str]
    verb: bool = False
    once: bool = True


def _begins(*forms: str, verb: bool = False, once: bool = True) -> tuple[Pattern, ...]:
    return tuple(Pattern(re.compile(rf"(?:{form})", re.IGNORECASE), verb, once) for form in forms)


CONDITION: Final = rf"(?:{_EVERY}|if|when)"
_ORDER: Final = (
    rf"(?:(?:please|just|then|you\s+(?:can|should|must))\s+)*(?:{_NOT}\b"
    rf"|i\s+(?:don['’]?t\s+)?want\s+(?:you|any|tips|advice)\b|{_I_D}\s+like\s+you\s+to\b"
    rf"|no\s+(?:more\s+)?(?:{_CONTENT})\b|always\s|never\s|only\s|{_SAYS}\b)"
)
_GO_ON: Final = (
    r"(?:give|keep|make|put|turn|let|leave|listen|play|confirm|check|wait|skip|stay|be|write"
    r"|work|show|switch|set|lower|send|start|round|get)"
)
_NEXT: Final = (
    r"(?:,\s*|\s+)(?<!\bi\s)(?<!\bwe\s)(?<!\bhe\s)(?<!\bshe\s)(?<!\bit\s)(?<!\bthey\s)(?<!\bto\s)"
)
"""The boundary before a clause without a subject."""

_NO_CLAIM: Final = r"(?![^.?!]*\b(?:was|were|is|are|had|has|hurts?|bothers?|looks?|sounds?)\b)"
"""Excludes statements: "no politics at the table was my dad's rule"."""

_SECRET: Final = (
    r"[^.?!]*?\bbut\b|\s+(?:\w+\s+){0,2}(?:this|that|it)\b|\s+(?:\w+)\s*(?:$"
    r"|[.!?,;]|(?:i|we|he|she|they)\b)"
)
_NO_SECRET: Final = rf"(?!\s+(?:let|tell|breathe|say|repeat|mention)(?:{_SECRET}))"
"""Excludes requests about what is said next: "don't ever let this slip"."""

PATTERNS: Final = (
    # how the user is called
    *_begins(
        rf"(?:{_NOT}\s+(?:ever\s+)?|always\s+|only\s+)?call\s+me\s+(?!(?:{_NON_NAMES})\b)[\w“\"'‘]",
        rf"(?:{_NOT}\s+(?:ever\s+)?|always\s+)?(?:address|refer\s+to)\s+(?:me|my\s+\w+)\s+(?:as"
        r"|by|with)\b",
        rf"{_I_D}\s+(?:rather|prefer)\s+(?:it\s+)?(?:if\s+)?(?:you\s+(?:just\s+)?called\s+me"
        r"|to\s+be\s+called|being\s+called)\b",
        rf"i\s+(?:prefer|want|like|(?:{_I_D}\s+)?(?:like|prefer))\s+(?:to\s+be\s+called|being"
        r"\s+called|to\s+go\s+by)\b",
        r"i(?:\s+(?:usually|always|just))?\s+go\s+by\s+(?!(?:the|a|an|my|bus|train|car|bike"
        r"|foot|tram|taxi|plane|boat|what|your|his|her|that|it)\b)\w",
        r"(?:my|the)\s+pronouns\s+are\b",
        r"(?:always\s+)?use\s+(?:she|he|they)\s*(?:and|/|,|or)?\s*(?:her|him|them)\b",
        r"(?:always\s+)?pronounce\s+my\b",
        once=False,
    ),
    # always, never, from now on
    *_begins(
        r"always(?:\s+please)?(?!\s+(?:have\s+been|has|had|did|will|would|was|were|is|are)\b)",
        r"never(?:\s+ever)?(?!\s+(?:mind|again\s+will|you\s+mind|say\s+never|you)\b)"
        rf"{_NO_SECRET}",
        rf"{_NOT}\s+ever{_NO_SECRET}",
        rf"{_LASTING}\b[\s,:]*(?:(?:i\s+want\s+you|{_I_D}\s+like\s+you)\s+to\s+|{_YOU_MAY}\s+"
        r"|please\s+|just\s+|always\s+|never\s+)*",
        verb=True,
        once=False,
    ),
    *_begins(
        rf"{_LASTING}\b[\s,:]*(?:if|when|{_EVERY})\s+i\b",
        rf"{_EVERY}\s+(?:i|you|we)\b[^.?!]*?{_NEXT}(?={_ORDER}|(?:{_GO_ON}|ask|remind|say)\b)",
        once=False,
    ),
    # what is not to be said
    *_begins(
        rf"{_NOT}\s+(?:ever\s+)?(?:mention|discuss|suggest|recommend|propose|swear|curse"
        r"|apologi[sz]e|interrupt|lecture|nag|patroni[sz]e|sugar-?coat"
        r"|exaggerate|flatter|judge|spoil|correct|scold|praise|reveal)\b(?!\s*(?:$|[.!?]|(?:it"
        r"|that|this)\b))",
        rf"{_NOT}\s+(?:ever\s+)?(?:spell\s+(?:things|everything|it\s+all)\s+out|repeat"
        r"\s+(?:what|anything|things|my|everything)|overdo|make\s+(?:jokes|fun))\b",
        rf"{_NOT}\s+(?:ever\s+)?\w+\b[^.?!]*\b(?:before|after|between|until)\s+(?:\d"
        rf"|(?:{_HOURS})\b)",
        rf"{_NOT}\s+(?:ever\s+)?\w+\b[^.?!]*\b(?:in\s+front\s+of|when\s+(?:others|anyone"
        r"|other\s+people|my|the)\b|(?:at|on)\s+(?:weekends|the\s+weekend|sundays"
        r"|saturdays|fridays|night))",
        rf"{_NOT}\s+(?:ever\s+)?(?:talk|speak|ask(?:\s+me)?|remind\s+me|joke|comment|tell"
        rf"\s+(?:me|us))\s+{_ABOUT}\s+(?!{_THAT})",
        rf"{_NOT}\s+(?:ever\s+)?(?:tell|give|make|offer)\s+(?:me\s+|us\s+)?(?:any\s+|your\s+"
        rf"|so\s+many\s+)?(?:{_CONTENT})\b",
        rf"{_NOT}\s+(?:ever\s+)?ask\s+(?:me\s+)?(?:how|why|what|whether|if|where)\b",
        rf"{_NOT}\s+(?:ever\s+)?bring\s+(?:up\s+(?!{_THAT})|(?:my|the)\b[^.?!]*\bup\b)",
        rf"{_NOT}\s+(?:ever\s+)?(?:use|say)\s+(?:my|the\s+word|any|emojis?|abbreviations|jargon"
        rf"|slang|acronyms|military|imperial|metric|{_UNIT}|his|her)\b",
        rf"{_NOT}\s+(?:ever\s+)?read\b[^.?!]*\b(?:out|aloud)\b",
        rf"{_NOT}\s+(?:ever\s+)?(?:share|reveal|give\s+out|give\s+away|disclose)\s+(?:my|our"
        r"|the|any)\b",
        rf"{_NOT}\s+(?:ever\s+)?give\s+me\s+(?:any\s+|so\s+many\s+|too\s+many\s+)?(?:advice"
        r"|tips|lectures|long|lists|options|compliments|links|spoilers)\b",
        rf"{_NOT}\s+(?:ever\s+)?(?:wake|call|disturb|ring|phone)\s+me\s+(?:before|after|during"
        r"|on\s+(?:week|sun|satur)\w*|between)\b",
        rf"(?:stop|quit)\s+(?:{_SAYING})\b(?!\s*(?:$|[.!?]))(?!\s+(?:to|that|this|it|the)\s)",
        r"(?:steer\s+clear|stay\s+(?:clear|away|off)|keep\s+(?:clear|away|off))\s+(?:of|from"
        r"|the\s+(?:subject|topic)\s+of)\s+[^.?!]*?\b(?:with\s+me|when|please|topics?"
        r"|subjects?|in\s+our)\b",
        rf"{_I_D}\s+(?:rather|prefer)\s+not\s+(?:to\s+)?(?:talk|speak|hear|be\s+asked|discuss"
        rf"|be\s+reminded)\b(?!\s+(?:about|of)?\s*{_THAT})\s+\w",
        rf"avoid\s+(?:any\s+|all\s+|the\s+)?(?:{_SAYING}|{_CONTENT}|topics?|subjects?|the"
        r"\s+(?:topic|subject|word))\b",
        rf"no\s+(?:more\s+)?(?:{_CONTENT})\b{_NO_CLAIM}",
        rf"(?:less|fewer|more)\s+(?:{_CONTENT}|detail|details|facts)\b{_NO_CLAIM}(?=\s*$"
        r"|\s*[,.!]|\s+(?:please|and|when|in)\b)",
        r"keep\s+(?:my|our|this|the)\s+[\w\s’']{1,30}?\s+(?:between\s+us|secret|private"
        r"|confidential|to\s+yourself)\b",
        r"i\s+(?:really\s+)?don['’]?t\s+(?:ever\s+)?(?:want|wish|like|need)\s+to\s+(?:hear"
        r"\s+(?:anything\s+)?(?:about|of)|be\s+(?:reminded\s+of|asked"
        rf"|called|told))\s+(?!{_THAT})",
        r"i\s+(?:really\s+)?(?:hate|don['’]?t\s+(?:like|want|appreciate)|can['’]?t\s+stand)"
        r"\s+(?:it\s+when\s+you\b|being\s+(?:called|asked|reminded|told|"
        rf"interrupted|lectured)\b|you\s+(?:to|{_SAYING})\b)",
        rf"{_I_D}\s+(?:prefer|rather|like|appreciate)\s+(?:it\s+)?(?:if\s+)?(?:we|you)"
        r"\s+(?:(?:didn['’]?t|did\s+not|don['’]?t|never)\s+\w+|(?:always\s+)?"
        r"(?:used|spoke|answered|kept|talked|gave|said|read|asked|replied|avoided|stopped"
        r"|stuck|left\s+out)\b)",
        r"(?:let['’]?s\s+)?(?:leave|keep)\s+(?!it\b)[\w\s’']{1,40}?\s+out\s+of\s+(?:it|this"
        r"|our\s+\w+|the\s+conversation|what\s+you\s+say)\b",
        r"you\s+(?:don['’]?t|do\s+not|needn['’]?t|need\s+not|never)\s+(?:need\s+to|have\s+to"
        rf"|got\s+to|needed\s+to)?\s*(?:{_SAYS})\b(?!\s+me\s+that)"
        r"(?=[^.?!]*\b(?:all\s+the\s+time|every|each|always|so\s+(?:much|often)|any\s?more"
        r"|to\s+me|constantly)\b)",
    ),
    # how it is said
    *_begins(
        rf"keep\s+(?:it|things|your\s+[\w\s]{{1,20}}?|(?:the|all)?\s*{_REPLIES})\s+(?:\w+"
        rf"\s+)?(?:{_TONE}|under|below|to|at|within)\b(?!\s+(?:yourself|me)\b)",
        rf"be\s+(?:more\s+|very\s+|as\s+|less\s+|a\s+bit\s+(?:more\s+)?)?(?:{_TONE})\b(?=\s*$"
        r"|\s*[.!,]|\s+(?:with|when|to|and|if|please|as|in|about\s+my|from|always)\b)",
        r"(?:make|give\s+me|want|use)\s+(?:your|shorter|short|brief|longer|detailed|simple"
        rf"|only|the|all)\s+(?:{_TONE}\s+)?{_REPLIES}\b",
        r"i\s+(?:only\s+)?(?:like|prefer|want|need|love)\s+(?:my\s+|your\s+|the"
        rf"\s+)?(?:{_TONE})(?:,?\s+(?:and\s+)?(?:{_TONE}))?\s+{_REPLIES}\b",
        r"one\s+(?:question|thing|step|item|point)\s+at\s+a\s+time\b",
        r"(?:answer|reply|respond|speak|talk|write|text|chat)(?:\s+(?:to\s+|with"
        rf"\s+)?me\b)?(?:\s+(?:only|please))?\s+(?:in\s+|only\s+)?(?:{_TONGUES})\b"
        r"(?!\s+for\s+)",
        r"(?:speak|talk)(?:\s+to\s+me)?\s+(?:more\s+)?(?:slowly|slower|quietly|softly|clearly"
        r"|louder|formally|plainly)\b(?!\s+for\b)(?=[^.?!]*\b(?:please|me|"
        r"when|always|if)\b)",
        r"(?:give|tell|show|read|say|state|report)\s+(?:me\s+|us\s+)?(?:all\s+|any\s+|the"
        rf"\s+)?(?:{_MANY_MEASURES})\b[^.?!]*?\b(?:in|on|as|with|using)\b",
        rf"(?:any\s+|all\s+|my\s+)?(?:\w+\s+){{0,2}}?(?:{_MANY_MEASURES}|reading|units?)(?:"
        r"\s+(?:always|should\s+be|must\s+be))?(?:\s+(?:in|on|as)\s+|,\s+[\w\s]+\s+in\s+)"
        rf"(?:the\s+)?(?:{_UNIT})\b(?!\s+(?:on|of|at)\b){_NO_CLAIM}",
        rf"(?:give|tell|show|read|say)\s+(?:me\s+)?(?:the\s+)?(?:{_MEASURES})\s+(?:in|on|as)"
        rf"\s+(?:the\s+)?(?:{_UNIT})(?:\s+(?:format|clock|units?))?\s*(?:please)?\W*$",
        rf"(?:{_TONE})(?:(?:,|\s+and|,\s+and)\s+(?:{_TONE}))+(?:,?\s+please)?\W*$",
        rf"say\s+(?:the\s+)?(?:{_MEASURES})\s+(?:with|as|in)\b",
        rf"(?:always\s+|only\s+)?(?:use|stick\s+(?:to|with)|prefer)\s+(?:the\s+)?(?:{_UNIT})\b",
        rf"(?:go|switch|change)\s+back\s+to\s+(?:the\s+)?(?:{_UNIT}|{_TONGUES})\b",
        r"(?:always\s+|only\s+)?use\s+(?:my\s+(?:first|last|full|middle|maiden|nick)\s?-?name"
        r"|simple\s+words|short\s+sentences|plain\s+\w+|simple\s+\w+"
        r"|formal\s+\w+|fewer\s+words|british\s+\w+|american\s+\w+|the\s+metric|the\s+imperial)",
        r"(?:please\s+)?explain\s+(?:things|everything)\b(?!\s+to\s+(?:him|her|them))",
        r"(?:don['’]?t|do\s+not)\s+(?:go\s+into\s+detail|beat\s+about|be\s+(?:so|too)"
        r"\s+(?:formal|wordy|chatty|cheerful|polite))",
        r"only\s+(?:suggest|recommend|play|book|order|offer|use|tell|give|answer|propose|speak"
        r"|show)\b",
    ),
    # under a condition
    *_begins(
        rf"when\s+you\s+(?:{_SAYS}|give|answer|order|book|text|play|send|write|set|plan|make"
        r"|cook|look\s+up)\b[^.?!]*?,\s*(?=\S)",
        r"before\s+you\s+(?:send|book|order|buy|delete|post|pay|reply|share|call|cancel"
        r"|change)\s+(?:any|a|an|every|messages|something|my|things)\w*\b"
        rf"[^.?!]*?{_NEXT}(?=(?:always|please|read|ask|check|confirm|tell|show|double|let"
        r"|repeat|run)\b)",
        rf"{CONDITION}\s+i\s+(?:say|mention|talk\s+about|speak\s+of|write"
        rf"|call)\b[^.?!]{{1,60}}?(?:,\s*|\s+)(?:i\s+(?:always\s+)?mean|it\s+means|that\s+means"
        r"|it['’]s|that['’]s"
        r"|i['’]m\s+talking\s+about|i\s+am\s+talking\s+about|this\s+means|take\s+it|it\s+is)\b",
        r"by\s+[\"“'‘]?[\w\s’'-]{1,40}?[\"”'’]?,?\s+i\s+(?:always\s+|usually\s+)?mean\b(?!\s+to\b)",
        r"(?:every|each)\s+(?:morning|day|evening|night|week|weekday|weekend|monday|tuesday"
        r"|wednesday|thursday|friday|saturday|sunday|month)[\s,]+"
        rf"(?=(?:please\s+)?(?:{_SAYS}|{_GO_ON})\b)",
        rf"(?:before|after|until)\s+(?:\d[\d:.]*|{_HOURS})\b(?!\s+(?:minutes?|hours?|days?"
        rf"|weeks?))[^.?!]*?{_NEXT}(?={_ORDER}|(?:keep|give|speak|stay)\b)",
        rf"(?:the\s+\w+\s+)?(?:before|after)\s+(?:any|every"
        rf"|each)\s+\w+[^.?!]*?{_NEXT}(?={_ORDER}|{_GO_ON}\b)",
        r"(?:start|begin|open|end|finish|close)\s+(?:every|each|your|all\s+your)\s+\w+\s+with\b",
        r"(?:ask|check|confirm|consult)(?:\s+with)?(?:\s+me)?(?:\s+first)?\s+before\s+(?:you"
        r"\s+)?(?:ever\s+)?(?:any|buy|book|order|spend|send|delet|post|pay|cancel|mak|do)",
        r"(?:everyone|everybody|people|(?:all\s+)?my\s+friends|most\s+people)\s+calls?"
        r"\s+me\b[^.?!]*?\byou\s+(?:can|should|may|might)\b",
        rf"{CONDITION}\s+i\s+(?:say|tell\s+you|ask(?:\s+you)?|mention|sound|seem|look|come\s+in"
        r"|come\s+home|want|ignore|hesitate|repeat|order|go\s+quiet|get|start|begin|speak|talk"
        r"|switch|slip|ever\s+\w+|fall)\b"
        rf"[^.?!]*?{_NEXT}(?={_ORDER}|{_GO_ON}\b)(?!\w+\s+(?:again|to)\b)",
        rf"{CONDITION}\s+i(?:['’]m|\s+am)\s+(?:\w+\s+)?(?:{_STATES})\b[^.?!]*?{_NEXT}(?={_ORDER}"
        rf"|{_GO_ON}\s)",
        rf"{CONDITION}\s+(?:my|anyone|anybody|someone|somebody)\b[^.?!]{{1,40}}?\b(?:asks?"
        rf"|calls?|rings?|wants?)\b[^.?!]*?{_NEXT}(?=(?:please\s+)?{_NOT}\b)",
        r"if\s+it(?:['’]s|\s+is)\s+(?:after|before|past|late|early|dark"
        rf"|night)\b[^.?!]*?{_NEXT}(?=(?:please\s+)?(?:{_SAYS}|{_NOT}|{_GO_ON})\b)",
        rf"unless\s+i\s+(?:say|tell|ask)\b[^.?!]*?{_NEXT}(?=\w)(?!(?:i|we|he|she|they|it)\b)",
        once=False,
    ),
)  # fmt: skip

LASTING_SUFFIX: Final = re.compile(
    rf"\b(?:always|ever|{_LASTING}|{_EVERY}(?:\s+(?:i|you|we)\b[^.?!]*)?|unless\s+i\s+(?:say"
    r"|tell|ask)\b[^.?!]*|all\s+the\s+time|in\s+general"
    rf"|when(?:ever)?\s+(?:you\s+(?:{_SAYS}|order|book|write|send)|(?:my|our|the|other|anyone"
    r"|someone|others)\b[^.?!]*\b(?:is|are|comes?|visits?))\b[^.?!]*)"
    r"[\s,]*(?:please|okay|ok|thanks)?\W*$",
    re.IGNORECASE,
)
"""An ending that makes any imperative last: "repeat phone numbers twice, always"."""

CLAUSE_STARTS: Final = re.compile(
    r"(?:^|(?<=[,;:—–(])|(?<=\s-)|(?<=\bso)|(?<=\bbut)|(?<=\band)|(?<=\byou\sknow)"
    r"|(?<=\bis))\s*(?=\S)"
    r"|(?<=\s)(?=(?:please|(?<!\bi\s)(?<!you\s)(?<!we\s)(?<!they\s)(?:don['’]?t|do\snot)"
    r"\s+ever|from\s+now\s+on|for\s+future\s+reference|going\s+forward)\b)",
    re.IGNORECASE,
)
"""Where a clause may begin."""
