"""Instructions that a bot must not follow because they were once said.

The speaker, or the author of imported text, need not be the owner. Instructions that move money,
reveal secrets, deceive or instruct others, presume consent, give addresses, prevent help or
override the bot's rules are stored as ordinary turns and never as standing instructions.
Restrictions are safe: "never order anything without asking me".
"""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from hotmem.text.word_sets import wordlist
from hotmem.types.understanding import Span, Token
from hotmem.understanding.query.commands import term_id, term_ids
from hotmem.understanding.term_model import TermIds, load_term_model, logistic

_NON_NAMES: Final = wordlist(
    "by from please instead not never always when whenever in at on and or but now again only "
    "just like with a an the my your that this it "
    "names they them she her he him anything everything whatever something because since if for "
    "to as until till while during after before so thanks "
    "back okay ok today tomorrow tonight"
)
_NAMES: Final = rf"(?!(?:{'|'.join(sorted(_NON_NAMES))})\b)"
_ONE: Final = (
    rf"(?:(?:mr|mrs|ms|miss|dr|doctor|prof|professor|captain|sir|lady|auntie"
    rf"|uncle)\b\.?\s+{_NAMES})?[\w][\w'’-]*"
)
_FORMS: Final = (
    r"\bcall(?:s|ed|ing)?\s+(?:me|her|him|them|the\s+user)\s+(?:by\s+my\s+\w+\s+name,?\s+"
    r"|just\s+|always\s+|only\s+)?",
    r"\b(?:address|refer\s+to)\s+(?:me|her|him|them|the\s+user)\s+(?:only\s+|always\s+)?as\s+",
    r"\b(?:to\s+be|being|is|am)\s+(?:called|named|addressed\s+as)\s+",
    r"\bgo(?:es)?\s+by\s+",
    r"\b(?:my|user['’]s)\s+name\s+is\s+",
)
_CALLED: Final = re.compile(
    rf"(?:{'|'.join(_FORMS)})[\"“'‘]?(?P<name>{_ONE}(?:\s+{_NAMES}(?-i:[A-Z])[\w'’-]*){{0,2}})",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"\b(?:(?:do|did|does|would|wouldn|didn|don|doesn)(?:['’]?t|\s+not)|never|not|stop|quit"
    r"|hates?|dislikes?|nobody|no\s*-?one|none|neither|no\s+longer"
    r"|only\s+my|you\s+keep|used\s+to|hardly|rarely|anything\s+but|everything\s+but)\b",
    re.IGNORECASE,
)
_RESTART: Final = re.compile(
    r"[,;.]|\b(?:but|so|please|instead|just)\b|\bcall(?:s|ed|ing)?\s+me\s+(?=\S)", re.IGNORECASE
)
"""Boundaries after which an earlier refusal no longer applies."""

EXCLUSIVE_TOPICS: Final = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for name, words in {
        "name": r"call(?:ed|ing)?\s+(?:me|her|him|them)|address\s+(?:me|her|him|them)|go\s+by"
        r"|to\s+be\s+called",
        "language": (
            r"(?:speak|talk|answer|reply|respond|write)\b[^,;.]*\b(?:english|german|french"
            r"|spanish|italian|portuguese|russian|chinese|mandarin|japanese"
            r"|korean|arabic|hindi|dutch|swedish|norwegian|danish|polish|turkish|greek|welsh)"
        ),
        "temperature": r"celsius|centigrade|fahrenheit",
        "distance": r"miles|kilomet(?:re|er)s?|km",
        "weight": r"kilos?|kilograms?|pounds\s+and\s+ounces|stones?",
        "clock": r"(?:24|12|twenty[\s-]four|twelve)[\s-]hour|military\s+time",
        "length": r"(?:keep|make|be|like|prefer|want|give)\b[^,;.]*\b(?:short|shorter|brief"
        r"|concise|long|longer|detailed|thorough)",
        "speed": r"(?:speak|talk|read|go)\b[^,;.]*\b(?:slow(?:er|ly)?|fast(?:er)?|quick(?:er"
        r"|ly)?|speed|pace)",
        "volume": r"(?:speak|talk|go)\b[^,;.]*\b(?:loud(?:er|ly)?|quiet(?:er|ly)?|softly|softer"
        r"|volume)|speak\s+up",
    }.items()
}
"""Topics that allow one instruction at a time, by their patterns."""


def preferred_name(words: str) -> str:
    """Return the name to call the user by; "" if there is none.

    A form of address takes precedence over "my name is".
    """
    found = [match for match in _names(words) if not is_refused(words[: match.start("name")])]
    wished = sorted(found, key=lambda match: "name is" in " ".join(match[0].casefold().split()))
    return next((capitalize_words(match["name"]) for match in wished), "")


def refused_name(words: str) -> str:
    """Return the name not to call the user by; "" if there is none."""
    found = (match for match in _names(words) if is_refused(words[: match.start("name")]))
    return next((match["name"] for match in found), "")


def is_refused(before: str) -> bool:
    """Whether a name after these words is refused: "nobody calls me"."""
    *_, last = ["", *(part for part in _RESTART.split(before) if part.strip())]
    return bool(_REFUSAL.search(last))


def capitalize_words(name: str) -> str:
    """Capitalise a name, as speech recognisers may not."""
    return " ".join(f"{word[:1].upper()}{word[1:]}" for word in name.split())


def exclusive_topics(words: str) -> frozenset[str]:
    """Return the exclusive topics of an instruction; a refused name replaces nothing."""
    return frozenset(
        name
        for name, form in EXCLUSIVE_TOPICS.items()
        if form.search(words) and (name != "name" or preferred_name(words))
    )


def _names(words: str) -> Iterator[re.Match[str]]:
    return (
        match for match in _CALLED.finditer(words) if match["name"].casefold() not in _NON_NAMES
    )


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


_FUNCTION_WORDS: Final = frozenset(
    {"PRON", "ADV", "ADP", "SCONJ", "AUX", "PART", "DET", "CCONJ", "INTJ"}
)
"""Parts of speech whose words stand for themselves in the order of a text's words."""


def wish(text: Span) -> float:
    """The probability that a text is a wish about how the bot shall behave from now on."""
    return logistic(load_term_model("wishes-1", "wish").logit(wish_ids(text)))


def wish_ids(text: Span) -> TermIds:
    """The sorted ids of a text's terms."""
    grammar = np.array([term_id(term) for term in _grammar(text)], dtype=np.uint32)
    return np.union1d(term_ids(text.text), grammar)


def _grammar(text: Span) -> Iterator[str]:
    """Yield topics, verbs with their subjects, and each two and three parts of speech in a row."""
    yield from exclusive_topics(text.text)
    words = [token for token in text if not token.is_space]
    for token in words:
        if token.pos_ in ("VERB", "AUX"):
            denied = any(child.dep_ == "neg" for child in token.children)
            yield f"{token.tag_} {token.dep_} {_subject(token)}"
            yield f"{token.lemma_} {_subject(token)} {denied}"
    tags = ["<", *(one.lower_ if one.pos_ in _FUNCTION_WORDS else one.tag_ for one in words), ">"]
    for size in (2, 3):
        for start in range(len(tags) - size + 1):
            yield "-".join(tags[start : start + size])


def _subject(verb: Token) -> str:
    """A verb's subject: the pronoun, "noun", or ""."""
    subjects = (child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass"))
    subject = next(subjects, None)
    if subject is None:
        return ""
    return str(subject.lower_) if subject.pos_ == "PRON" else "noun"
