"""Which instructions a bot must not take from a conversation, because they are not about how it speaks to the user.

Who talks to a bot, or writes what it imports, is not always its owner. An instruction that moves money, gives secrets away, hides something from
others, or sets the bot's own rules aside is remembered as what was said, and never as a standing instruction. What only holds the bot back is
harmless: "never order anything without asking me".
"""

import re
from typing import Final

_MOVES: Final = (
    r"(?:transfer|send|pay|wire|donate|invest|withdraw|deposit|lend|give|buy|order|purchase|spend|remit|authori[sz]e|approve|confirm"
    r"|accept|forward|move)"
)
_MONEY: Final = (
    r"(?:\b(?:money|cash|funds|bitcoins?|btc|crypto\w*|gift\s*cards?|vouchers?|payments?|transfers?|bills?|invoices?|purchases?|savings|ibans?)\b"
    r"|\b(?:bank\s+)?account\b|\b[A-Z]{2}\d{2}|[€$£]\s?\d|\d\s?(?:[€$£]|euros?\b|dollars?\b|pounds\b|bucks\b|k\b))"
)
_SECRET: Final = (
    r"(?:passwords?|passcodes?|passphrases?|pins?|credentials|secrets?|(?:access|door|alarm|security|verification|one[\s-]time)\s+codes?"
    r"|api\s+keys?|private\s+keys?|(?:credit\s+|debit\s+)?card\s+numbers?|cvvs?|account\s+(?:numbers?|details)|social\s+security|system\s+prompt)"
)
_TELLS: Final = r"(?:tell|give|send|share|reveal|read|say|show|repeat|forward|disclose|hand|e-?mail|text|print|leak|include|write|output)"
_ANYONE: Final = (
    r"(?:anyone|anybody|no\s?one|nobody|others|other\s+people"
    r"|the\s+(?:police|authorities|doctors?|nurses?|owner|operator|admin\w*|developers?|company))"
)
_RULES: Final = (
    r"(?:rules?|instructions?|guidelines?|polic(?:y|ies)|restrictions?|limitations|safety|safeguards?|filters?|guardrails?|(?:system\s+)?prompts?"
    r"|programming|constraints?)"
)
_SETS_ASIDE: Final = r"(?:ignore|disregard|forget|override|bypass|disable|break|violate|disobey|circumvent|(?:turn|switch)\s+off|set\s+aside)"

_HOLDS_BACK: Final = re.compile(
    r"\b(?:never|don['’]?t|do\s+not|not|no|without|stop|avoid|ask|check|confirm\s+with|wait|unless|only\s+(?:after|if|when)|with\s+me|me\s+first)\b",
    re.IGNORECASE,
)
_UNBOUND: Final = re.compile(r"\bwithout\s+(?:asking|checking|confirm\w*|telling|question\w*|hesitat\w*|permission|approval)", re.IGNORECASE)
_DENIED: Final = re.compile(r"\b(?:never|don['’]?t|not|without)\b", re.IGNORECASE)
_PAYS: Final = re.compile(rf"\b{_MOVES}\b.*{_MONEY}", re.IGNORECASE)
_GIVES_AWAY: Final = re.compile(rf"\b{_TELLS}\b.*\b{_SECRET}\b", re.IGNORECASE)
_HIDES: Final = re.compile(rf"\b(?:never|don['’]?t|do\s+not|must\s+not|hide|conceal|keep|lie|deny)\b.*\b(?:{_ANYONE}|secret\s+from)\b", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:my|our|mine|i|i['’]\w+|we|us|me)\b", re.IGNORECASE)
_DEFIES: Final = re.compile(
    rf"\b{_SETS_ASIDE}\b.*\b{_RULES}\b"
    r"|\b(?:have|under|without(?:\s+any)?)\s+(?:no\s+)?(?:rules|restrictions|limits|limitations|guidelines|filters?)\b"
    r"|\b(?:do|obey|follow|(?:agree|comply)\s+(?:to|with))\s+(?:whatever|anything|everything|all)\b"
    r"|\bnever\s+(?:refuse|decline|say\s+no|warn)\b|\b(?:developer|debug|god|admin|jailbreak|dan)\s+mode\b|\bjailbreak\w*"
    r"|\blie\s+to\b|\bobey\b|\b(?:unlock|open)\b.*\b(?:door|gate|safe|garage)\b",
    re.IGNORECASE,
)


def beyond(words: str) -> bool:
    """Whether an instruction reaches beyond how the bot speaks to the user, so that it must not be followed because it was once said."""
    if _DEFIES.search(words):
        return True
    if _HIDES.search(words) and not _OWN.search(words):
        return True
    held_back = bool(_HOLDS_BACK.search(words))
    if _PAYS.search(words) and (not held_back or (_UNBOUND.search(words) and len(_DENIED.findall(words)) < 2)):
        return True
    return bool(_GIVES_AWAY.search(words)) and not _DENIED.search(words)
