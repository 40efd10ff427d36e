"""Instructions that a bot must not follow because they were once said.

The speaker, or the author of imported text, need not be the owner. Instructions that move money,
reveal secrets, deceive or instruct others, presume consent, give addresses, prevent help or
override the bot's rules are stored as ordinary turns and never as standing instructions.
Restrictions are safe: "never order anything without asking me".
"""

import re
from typing import Final

_MOVES: Final = (
    r"(?:transfer|send|pay|wire|donate|invest|withdraw|deposit|lend|give|buy|order|purchase"
    r"|spend|remit|authori[sz]e|approve|confirm"
    r"|accept|forward|move|put|bet|sell)(?:ing)?"
)
_MONEY: Final = (
    r"(?:\b(?:money|cash|funds|bitcoins?|btc|crypto\w*|gift\s*cards?|vouchers?|payments?"
    r"|transfers?|bills?|invoices?|purchases?|savings|ibans?"
    r"|tenners?|fivers?|quid|grand|loans?|shares|stocks)\b"
    r"|\b(?:bank\s+)?account\b|\b[A-Z]{2}\d{2}|[€$£]\s?\d|\d\s?(?:[€$£]|euros?\b|dollars?\b"
    r"|pounds\b|bucks\b|k\b))"
)
_SECRET: Final = (
    r"(?:passwords?|passcodes?|passphrases?|pins?|credentials|secrets?|(?:access|door|alarm"
    r"|security|verification|one[\s-]time)\s+codes?"
    r"|api\s+keys?|private\s+keys?|(?:credit\s+|debit\s+)?card\s+numbers?|cvvs?"
    r"|account\s+(?:numbers?|details)|social\s+security|system\s+prompt|private\s+(?:notes?"
    r"|messages?|letters?|files?)|contacts|contact\s+list)"
)
_TELLS: Final = (
    r"(?:tell|give|send|share|reveal|read|say|show|repeat|forward|disclose|hand|e-?mail|text"
    r"|print|leak|include|write|output|spell|speak|sing"
    r"|whisper|hum)"
)
_ANYONE: Final = (
    r"(?:anyone|anybody|no\s?one|nobody|others|other\s+people"
    r"|the\s+(?:police|authorities|doctors?|nurses?|owner|operator|admin\w*|developers?|company))"
)
_RULES: Final = (
    r"(?:rules?|instructions?|guidelines?|polic(?:y|ies)|restrictions?|limitations|safety"
    r"|safeguards?|filters?|guardrails?|(?:system\s+)?prompts?"
    r"|programming|constraints?)"
)
_SETS_ASIDE: Final = (
    r"(?:ignore|disregard|forget|override|bypass|disable|break|violate|disobey"
    r"|circumvent|(?:turn|switch)\s+off|set\s+aside)"
)

_PERSON: Final = (
    r"(?:people|everyone|everybody|guests?|visitors?|callers?|customers?|strangers?|others|him"
    r"|her|them|mum|mom|dad|grandma|grandpa|nan|gran"
    r"|(?:my|the)\s+(?!(?:dates?|times?|weather|news|day)\b)\w+\s+to\b)"
)
_ASKS_NOTHING: Final = (
    r"(?:\balways\s+(?:say|answer|reply|agree|click|press)\s+(?:with\s+)?yes\b|\b(?:is|means?"
    r"|counts?\s+as|that['’]?s|as)\s+a\s+yes\b"
    r"|\balready\s+said\b.*\byes\b|\b(?:needn['’]?t|no\s+need\s+to|don['’]?t\s+(?:need"
    r"|have)\s+to|without)\s+ask\w*\s+me\s+to\s+(?:say\s+yes|confirm)\b"
    r"|\b(?:always|automatically|just)\s+(?:pay|buy|approve|authori[sz]e|accept|donate|transfer)\b)"
)
_ACTS: Final = (
    r"(?:approve|send|order|buy|purchase|pay|sign|transfer|donate|invest|sell|authori[sz]e"
    r"|unlock|forward|delete|accept|book\s+and\s+pay"
    r"|(?:answer|reply\s+to|respond\s+to)\s+(?:my\s+)?[\w'’]+(?:\s+[\w'’]+)?\s+(?:messages?"
    r"|e-?mails?|texts?|calls?|letters?))"
)
_FIRST: Final = (
    r"^(?:(?:from\s+(?:now|here|today)(?:\s+on)?|in\s+future|always|please|just|automatically"
    r"|every\s+\w+|each\s+\w+|you\s+(?:may|can|should|must)"
    r"|i\s+want\s+you\s+to|ok(?:ay)?|and|so)[\s,]+)*"
)
_UNCHECKED: Final = (
    r"\b(?:never|stop|quit|don['’]?t|do\s+not|needn['’]?t|need\s+not"
    r"|no\s+need\s+to)\s+(?:ever\s+|need(?:ing)?\s+to\s+|have\s+to\s+)?"
    r"(?:check(?:ing)?\s+(?:with|in)\b|confirm\w*|ask(?:ing)?\s+(?:me\s+)?(?:to\s+confirm"
    r"|first\b|before\b"
    r"|for\s+(?:(?:the|my|a|any)\s+)?(?:pins?|codes?|passwords?|permission|confirmation|yes)\b))"
)
_MEDICINE: Final = (
    r"\b(?:tablets?|pills?|insulin|warfarin|medication|medicine|meds|doses?"
    r"|dosage|milligrams?|mg|units?\s+of)\b"
)

_ADDRESS: Final = (
    r"(?:https?://|www\.|\b[\w-]+\.(?:com|org|net|io|example|info|biz|co\.\w+)\b"
    r"|\bdot\s+(?:com|org|net|example|co)\b)"
)

_HOLDS_BACK: Final = re.compile(
    r"\b(?:never|don['’]?t|do\s+not|not|no|without|stop|avoid|ask|check|confirm\s+with|wait"
    r"|unless|only\s+(?:after|if|when)|with\s+me|me\s+first)\b",
    re.IGNORECASE,
)
_UNBOUND: Final = re.compile(
    r"\bno\s+need\s+to\s+(?:ask|confirm|check|tell)|\bwithout\s+(?:asking|checking|confirm\w*"
    r"|telling|question\w*|hesitat\w*|permission|approval)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:never|don['’]?t|not|without)\b", re.IGNORECASE)
_PAYS: Final = re.compile(rf"\b{_MOVES}\b.*{_MONEY}", re.IGNORECASE)
_GIVES_AWAY: Final = re.compile(rf"\b{_TELLS}\b.*\b{_SECRET}\b", re.IGNORECASE)
_HIDES: Final = re.compile(
    rf"\b(?:never|don['’]?t|do\s+not|must\s+not|hide|conceal|keep|lie|deny)\b.*\b(?:{_ANYONE}"
    rf"|secret\s+from)\b",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"\b(?:my|our|mine|i|i['’]\w+|we|us|me)\b", re.IGNORECASE)
_DEFIES: Final = re.compile(
    rf"\b{_SETS_ASIDE}\b.*\b{_RULES}\b"
    r"|\b(?:have|under|without(?:\s+any)?)\s+(?:no\s+)?(?:rules|restrictions|limits|limitations"
    r"|guidelines|filters?)\b"
    r"|\b(?:do|obey|follow|(?:agree|comply)\s+(?:to|with))\s+(?:whatever|anything|everything|all)\b"
    r"|\bnever\s+(?:refuse|decline|say\s+no|warn)\b|\b(?:developer|debug|god|admin|jailbreak"
    r"|dan)\s+mode\b|\bjailbreak\w*"
    rf"|{_ASKS_NOTHING}|{_ADDRESS}|{_UNCHECKED}|{_FIRST}{_ACTS}\b|\bput\b.*\bon\s+(?:my|the|his"
    rf"|her)\s+(?:card|account|tab)\b"
    r"|\b(?:use|dial|call|ring)\b.*\b(?:bank|account)\b|\btake\s+(?:my|his|her|their)\s+word\b"
    r"|\bdo\s+(?:exactly\s+)?(?:what|as|whatever)(?:ever)?\s+i\s+(?:say|tell|want|ask)\b"
    r"|\byour\s+(?:own\s+|system\s+|hidden\s+)?(?:instructions|prompts?|rules|guidelines"
    r"|programming)\b"
    r"|\b(?:user_?id|other\s+users?|memor(?:y|ies)\s+of)\b|\b(?:vote\s+for|speak\s+(?:badly"
    r"|ill)\s+of|secretly|pretend\s+to\s+be)\b"
    r"|\b(?:never|don['’]?t|do\s+not|stop)\b.*\b(?:ambulance|emergency\s+services"
    r"|see\s+a\s+doctor|call\s+(?:a\s+doctor|for\s+help|help))\b"
    r"|\b(?:say|tell|suggest|recommend|advise)\b.*\btake\s+(?:\w+\s+)?(?:more|extra|double"
    r"|another)\b"
    r"|\blie\s+to\b|\bobey\b|\b(?:unlock|open)\b.*\b(?:door|gate|safe|garage)\b",
    re.IGNORECASE,
)

_OF_OTHERS: Final = re.compile(
    rf"\b(?:tell|ask|remind|convince|persuade|warn|invite|send)\s+{_PERSON}\b|\b(?:when|whenever"
    rf"|if|every\s+time|once)\s+"
    r"(?:he|she|they|the\s+(?:user|owner|patient|caller|customer)"
    r"|(?-i:[A-Z][a-z]+))\s+(?:\w+\s+)?(?:says?|speaks?|mentions?|asks?|calls?|talks?)\b"
    r"|\b(?:if|when|whenever)\s+(?:my|the|an?)\s.*\b(?:rings?|calls?|phones?|knocks?)\b"
    r"|\btell\b.*\bwhere\s+(?:he|she|they|(?!i\b|we\b|you\b|my\b|the\b|it\b)\w+)\s+(?:is|are)\b",
    re.IGNORECASE,
)
"""Instructions about other people, or triggered by them."""

_DOSED: Final = re.compile(_MEDICINE, re.IGNORECASE)
_REMINDS: Final = re.compile(r"\b(?:remind|never|don['’]?t|stop)\b", re.IGNORECASE)


def is_unsafe(words: str, sentence: str = "") -> bool:
    """Whether an instruction goes beyond how the bot speaks to the user.

    Args:
        words: The instruction.
        sentence: The sentence that contains it.
    """
    if _DEFIES.search(words) or (_DOSED.search(sentence or words) and not _REMINDS.search(words)):
        return True
    if _HIDES.search(words) and not _OWN.search(words):
        return True
    if _OF_OTHERS.search(words) and not _DENIED.search(words):
        return True
    held_back = bool(_HOLDS_BACK.search(words))
    if _PAYS.search(words) and (
        not held_back or (_UNBOUND.search(words) and len(_DENIED.findall(words)) < 2)
    ):
        return True
    return bool(_GIVES_AWAY.search(words)) and not _DENIED.search(words)
