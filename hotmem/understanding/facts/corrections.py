"""Corrections of earlier turns: "No, I said Potola, not Paola", "actually it's on Tuesday"."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final

from hotmem.temporal import CALENDAR, Granularity, find_times, format_time_bare
from hotmem.text.word_sets import wordlist
from hotmem.types import Correction
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.relations import IS_CALLED
from hotmem.understanding.facts.rewriting import RewrittenText, find_contrasts, rewrite
from hotmem.understanding.facts.spelled_codes import is_spelt
from hotmem.understanding.facts.third_person import is_filler, without_stutter
from hotmem.understanding.query.entities import ENTITY_TYPES, known_spans

_VALUE: Final = (
    r"(?:(?:a|an|the|on|in|at|with)\s+)?(?P<{name}>[\w'’-]+(?:\s+(?!not\b|but\b"
    r"|and\b|it\b|so\b|because\b)[\w'’-]+){{0,3}}?)"
)
_RIGHT: Final = _VALUE.format(name="right")
_WRONG: Final = _VALUE.format(name="wrong")
_IT: Final = (
    r"(?:it|that|he|she|they|(?:(?:his|her|its|my|their|the)\s+(?:\w+(?:['’]s)?\s+)?name)|(?:my"
    r"|our|the)\s+\w+(?:\s+\w+)?)"
    r"(?:['’]s|['’]re|\s+is|\s+was|\s+are)(?:\s+actually)?"
)
_NO: Final = (
    r"(?:no|nope|nah|wait|sorry|actually|oh no|oops|well|correction|hold on|i mean|wrong"
    r"|not quite|(?:you|i) (?:got|had) (?:that|it) wrong"
    r"|you misheard(?: me)?|that(?:['’]s| is| was) (?:wrong|not right))"
)
_SAID: Final = r"(?:(?:i\s+(?:said|meant|mean)|make)(?:\s+(?:it['’]s|it|that))?)"
_NOT: Final = r"(?:\s*,?\s*(?:by the way|actually|though))?\s*,?\s*(?:and\s+)?not"
_COUNT: Final = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_REPEATS: Final = "{0,8}"
"""Bound on repeated negations, which keeps the match time linear."""

_END: Final = r"(?=\s*(?:[.!;,]|$))"

_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\b{_NO}\W+){_REPEATS}\b{_SAID}\s+{_RIGHT}{_NOT}\s+{_WRONG}{_END}",
        rf"(?:\b{_NO}\W+){_REPEATS}\b{_IT}\s+(?:called\s+"
        rf"|named\s+)?(?!not\b){_RIGHT}{_NOT}\s+{_WRONG}{_END}",
        rf"(?:\b(?P<home>lives?|living)\s+)?\b(?:at|in|from)\s+{_RIGHT}\s*,?\s*(?:and\s+)?not\s+"
        rf"(?:(?:at|in|from)\s+)?{_WRONG}{_END}",
        rf"\b(?P<right>{_COUNT}\s+[\w'’-]+)[^.,;!?]*,\s*(?:and\s+)?not\s+{_COUNT}{_END}",
        rf"\bnot\s+{_WRONG}\s*,\s*(?:but\s+)?{_IT}\s+(?!no\b){_RIGHT}{_END}",
        rf"\bdid i say\s+{_WRONG}\s*\?\s*(?:{_NO}\W+){_REPEATS}{_SAID}\s+{_RIGHT}{_END}",
        rf"\bcall(?:ed|ing)?\s+(?:him|her|it"
        rf"|them)\s+{_WRONG}\s*[.,;]\s*(?:but\s+)?{_IT}\s+{_RIGHT}{_END}",
        rf"\b{_IT}\s+(?:spelled|spelt)\s+{_RIGHT}{_END}",
        rf"(?:^|(?<=[.!?]\s))(?:{_NO}\W+(?:{_NO}\W+){_REPEATS}(?:{_IT}\s+)?)?not\s+(?:called\s+"
        rf"|named\s+)?{_WRONG}\s*[,.;]\s*(?:but\s+)?(?:{_IT}\s+(?:called\s+|named\s+)?"
        rf"|{_SAID}\s+)?{_RIGHT}{_END}",
        rf"^(?:{_NO}\W+){_REPEATS}(?!not\b){_RIGHT}(?:\s*,|(?P<open>))\s*not\s+{_WRONG}\W*$",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_REPEATS}{_SAID}\s+{_RIGHT}\s*[.!]*\s*$",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_REPEATS}(?:{_IT})\s+(?P<cue>called\s+"
        rf"|named\s+|on\s+|in\s+)(?!not\b){_RIGHT}{_END}",
        rf"(?:^|(?<=[.!?]\s)){_NO}\W+(?:{_NO}\W+){_REPEATS}(?:(?:his|her|its|their|the"
        rf"|my)\s+name(?:['’]s|\s+is)\s+)(?!not\b){_RIGHT}{_END}",
        rf"^{_NO}\W+(?:{_NO}\W+){_REPEATS}(?P<right>{_COUNT}\s+[\w'’-]+)\s*[.!]*\s*$",
        rf"^{_NO}\W+(?:{_NO}\W+){_REPEATS}(?P<cue>on\s+"
        rf"|in\s+)?(?-i:(?P<right>[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){{0,2}}))\s*[.!]*\s*$",
    )
)
_NON_VALUES: Final = wordlist(
    "really true right sure much bad good yet fair easy only funny just too so a an the that "
    "this it fun well very great nice"
)
_LEADING_WORDS: Final = re.compile(r"^(?:a|an|the|on|in|at|with|called|named)\s+", re.IGNORECASE)


LIVES_IN: Final = "lives in"
"""Relation of a correction of where somebody lives."""


def read_corrections(doc: Doc, said_at: datetime) -> Iterator[Correction]:
    """Yield the corrections of an utterance, without overlaps.

    Days become ISO dates, as stored facts have them. `wrong` is "" if the old value is not named;
    `relation` then says which value is meant.
    """
    text = doc.text
    if text.rstrip().endswith("?"):
        return
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            right, wrong = groups["right"], groups.get("wrong") or ""
            if any(
                match.start() < stop and start < match.end() for start, stop in taken
            ) or not all(
                _is_value(doc, match, name) for name in ("right", "wrong") if groups.get(name)
            ):
                continue
            if groups.get("open") is not None and not any(find_contrasts(doc)):
                continue
            taken.append(match.span())
            value, dated = _resolve_date(right, said_at)
            yield Correction(
                _resolve_date(wrong, said_at)[0],
                value,
                match.start(),
                match.end(),
                relation=_relation(match, dated=dated),
            )


def _is_value(doc: Doc, match: re.Match[str], name: str) -> bool:
    """Whether the words are a value: a noun, name, number or day, and no clause or remark."""
    words = [token for token in doc if match.start(name) <= token.idx < match.end(name)]
    if not words or words[0].lower_ in _NON_VALUES:
        return False
    return not any(
        token.pos_ in ("AUX", "PRON", "SCONJ", "INTJ", "ADP", "PART")
        or (token.tag_ in ("VBD", "VBZ", "VBP", "VBG") and token.i > words[0].i)
        for token in words
    )


def _relation(match: re.Match[str], *, dated: bool) -> str:
    if dated:
        return "is on"
    words = match[0].lower()
    if re.search(r"\b(?:called|named|name|spelled|spelt)\b", words):
        return IS_CALLED.name
    if match.groupdict().get("home"):
        return LIVES_IN
    cue = (match.groupdict().get("cue") or "").strip().lower()
    return "is in" if cue == "in" else ""


def _resolve_date(value: str, said_at: datetime) -> tuple[str, bool]:
    """Return the value without its article, a day as its date, and whether it is one."""
    plain = _LEADING_WORDS.sub("", value).strip()
    mentions = find_times(f"on {plain}", said_at, ahead=True) if plain else ()
    if (
        len(mentions) == 1
        and mentions[0].granularity in (Granularity.DAY, Granularity.MONTH, Granularity.YEAR)
        and mentions[0].stop - mentions[0].start >= len(plain)
    ):
        return format_time_bare(mentions[0]), True
    return plain, False


MAX_WORDS_BACK: Final = 10
"""Words before the editing term in which the reparandum may begin."""

MAX_REPAIR_WORDS: Final = 6
"""Words of the longest replacement that does not restart the clause."""

_EXPLICIT_TERMS: Final = (
    r"(?:no|nope|nah)(?:[\s,]+(?:wait|sorry|i\s+mean|i\s+meant|i\s+tell\s+a\s+lie|hang\s+on"
    r"|hold\s+on|actually|rather|make\s+(?:that|it)))+|(?:oh\s+)?sorry(?:[\s,]+(?:no|i\s+meant?))*"
    r"|(?:or\s+)?i\s+meant?(?:\s+to\s+say)?|or\s+rather|wait[\s,]+no|scratch\s+that|make\s+that"
    r"|(?:uh\s+|er\s+)?correction"
)
"""Editing terms with or without commas."""

_COMMA_TERMS: Final = r"(?:oh\s+)?(?:no|nope|nah)|actually\s+no|wait|well|hang\s+on|hold\s+on"
"""Editing terms only between commas."""

_DEFINITIONS: Final = re.compile(
    r"(?:\b(?:when(?:ever)?|every\s+time|each\s+time|if)\s+(?:i|we)\s+(?:say|mention|talk|speak"
    r"|write|call)\b|^\W*by\b)[^.?!]*$",
    re.IGNORECASE,
)
"""Text before an "I mean" that is a definition: "when I say the office I mean the one in Leeds"."""

_BREAK: Final = r"\s*(?:[,;:…]|\s[—–-]|—)+\s*(?:(?:er|erm|uh|um|oh)\b[\s,]*|or\s+(?:actually\s+)?)?"
_HE_IS: Final = r"(?:it|he|she|they)(?:['’](?:s|re)|\s+(?:is|was|are|were))\b"
_EDITING: Final = re.compile(
    rf"(?:{_BREAK}|\s+)(?:{_EXPLICIT_TERMS})\b[\s,:]*|{_BREAK}(?:{_COMMA_TERMS})(?:\s*[,—–]\s*)+(?:make\s+(?:that"
    rf"|it)\s+)?|{_BREAK}actually[\s,]+"
    rf"|{_BREAK}(?:no|nope)\s+(?={_HE_IS})|(?<!actually)\s+(?:no|nope)\s+(?=(?:i|we|he|she|they)\s)"
    rf"|\s+(?:um+|uh+|erm?)[\s,]+(?:no|nope|sorry)[\s,]+"
    rf"|[.!]\s+(?P<firm>(?:{_EXPLICIT_TERMS})\b[\s,.:]*)",
    re.IGNORECASE,
)
_RESTART: Final = re.compile(r"(?:it|he|she|they)\s+", re.IGNORECASE)
_RESTART_WITH_COPULA: Final = re.compile(
    r"(?:it|that|he|she|they)(?:['’]?(?:s|re)|\s+(?:is|was|are|were))\s+(?:actually\s+|really\s+)?",
    re.IGNORECASE,
)
"""A clause that restarts with "be": "it's ochre"."""

_RETRACTIONS: Final = re.compile(
    rf"(?:{_BREAK}|\s+)(?:(?:no|nope)[\s,]+(?:wait|sorry|i\s+mean)|(?:sorry|wait"
    rf"|actually)[\s,]+no|scratch\s+that)\b"
    rf"|{_BREAK}(?:no|nope|wait)\s*,\s*(?:the\b|{_HE_IS})",
    re.IGNORECASE,
)
"""Editing terms that retract what precedes them, whatever follows."""

_CLAUSE: Final = re.compile(r"[,;.!?]\s*|\b(?:and|but|while|whereas)\b", re.IGNORECASE)

_END_MARKS: Final = frozenset(".!?,;:")
_FINITE_TAGS: Final = frozenset({"VBD", "VBZ", "VBP", "MD"})
_WORD_CLASSES: Final = {
    "ADP": "place",
    "DET": "article",
    "NUM": "number",
    "NOUN": "name",
    "PROPN": "name",
    "ADJ": "name",
    "X": "name",
}
"""Classes of words that can replace each other, by part of speech."""


def remove_repairs(doc: Doc) -> RewrittenText | None:
    """Remove what the speaker repaired; None if there is no repair.

    Args:
        doc: The parsed utterance.
    """
    return rewrite(doc.text, ((start, stop, "") for start, stop in repair_spans(doc)))


def repair_spans(doc: Doc) -> Iterator[tuple[int, int]]:
    """Yield character spans of reparandum and editing term."""
    for match in _EDITING.finditer(doc.text):
        if "mean" in match[0].lower() and _DEFINITIONS.search(doc.text[: match.start()]):
            continue
        before = [token for token in doc if token.idx < match.start()]
        ends = [place for place, token in enumerate(before) if token.text in (".", "!", "?")]
        near = before[ends[-1] + 1 if ends else 0 :][-MAX_WORDS_BACK:]
        for begin in _replacement_starts(doc, match.end(), near):
            after = list(_words_until_end([token for token in doc if token.idx >= begin]))
            wrong = _reparandum_start(near, after)
            if wrong is not None and not (
                match["firm"]
                and _starts_new_statement(match["firm"], after, anew=begin > match.end())
            ):
                yield _start_of_hesitation(wrong), begin
                break


def _start_of_hesitation(wrong: Token) -> int:
    """Where the hesitation before the reparandum begins, or the reparandum: "in um September"."""
    while wrong.i and is_filler(wrong.nbor(-1)):
        wrong = wrong.nbor(-1)
    return wrong.idx


def _starts_new_statement(term: str, after: Sequence[Token], *, anew: bool) -> bool:
    """Whether the sentence after the term may be a new statement.

    "I have a dog. Sorry, I have to go".
    """
    return after[0].pos_ == "PRON" or (
        anew and not re.search(r"\b(?:no|nope|nah|scratch|correction)\b", term, re.IGNORECASE)
    )


def _replacement_starts(doc: Doc, place: int, before: Sequence[Token]) -> Iterator[int]:
    """Yield where the replacement may begin: at once, after a pronoun, or after "it is"."""
    yield place
    verbs = {
        token.lower_
        for token in before
        if token.pos_ in ("VERB", "AUX") or token.tag_ in _FINITE_TAGS
    }
    if (anew := _RESTART.match(doc.text, place)) and any(
        token.idx == anew.end() and token.lower_ in verbs for token in doc
    ):
        yield anew.end()
    if (said_of := _RESTART_WITH_COPULA.match(doc.text, place)) and any(
        token.lemma_ == "be" for token in before
    ):
        yield said_of.end()


def retracted_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans that are retracted without a replacement: "I live in York, no wait, I moved"."""
    for match in _RETRACTIONS.finditer(text):
        start = max((found.end() for found in _CLAUSE.finditer(text, 0, match.start())), default=0)
        if len(text[start : match.start()].split()) > 1:
            yield start, match.start()


def _words_until_end(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.text in _END_MARKS or token.pos_ in ("CCONJ", "SCONJ"):
            return
        yield token


def _reparandum_start(before: Sequence[Token], after: Sequence[Token]) -> Token | None:
    """Return the first word of the reparandum; None if the words after the term replace nothing."""
    if not before or not after:
        return None
    first = after[0]
    again = next((token for token in reversed(before) if token.lower_ == first.lower_), None)
    if (
        again is not None
        and first.pos_ == "DET"
        and _has_of_phrase(before, again)
        and not any(token.lower_ == "of" for token in after)
    ):
        return None
    if again is not None and (len(after) <= MAX_REPAIR_WORDS or first.pos_ == "PRON"):
        return again
    if {first.lower_, before[-1].lower_} <= CALENDAR:
        return before[-1]
    if len(after) > MAX_REPAIR_WORDS or any(token.tag_ in _FINITE_TAGS for token in after):
        return None
    sort = _WORD_CLASSES.get(first.pos_)
    if sort is None:
        return None
    if sort != "name":
        return next(
            (token for token in reversed(before) if _WORD_CLASSES.get(token.pos_) == sort), None
        )
    names = sum(1 for token in after if token.pos_ == "PROPN") or 1
    run = [token for token in before[-names:] if _WORD_CLASSES.get(token.pos_) == "name"]
    return run[0] if run and run[-1] is before[-1] else None


def _has_of_phrase(before: Sequence[Token], again: Token) -> bool:
    """Whether the reparandum has an "of" phrase that the replacement would lose.

    "the third of May, no, the fourth".
    """
    return any(token.lower_ == "of" and token.i > again.i for token in before)


def remove_stutter(doc: Doc) -> RewrittenText | None:
    """Leave out what is repeated at once in an utterance; None if nothing is.

    Args:
        doc: The parsed utterance.
    """
    kept = set(without_stutter(list(doc)))
    left_out = (token for token in doc if token not in kept)
    return rewrite(
        doc.text, ((one.idx, one.idx + len(one) + len(one.whitespace_), "") for one in left_out)
    )


_CAPITALISED: Final = CALENDAR | {"i"}

_SUBJECTS: Final = wordlist("i he she we they you my our his her their this that it there")
_CONTINUING_POS: Final = frozenset({"ADP", "CCONJ", "SCONJ", "PART", "DET", "VERB", "AUX", "PRON"})
"""Parts of speech that do not end a sentence."""

MIN_LETTERS: Final = 3
"""Letters below which the case of a text means nothing."""


def lacks_case(text: str) -> bool:
    """Whether a text is all lower case or all upper case."""
    return sum(map(str.isalpha, text)) >= MIN_LETTERS and (text.islower() or text.isupper())


def sentence_starts(doc: Doc) -> list[int]:
    """Return the offsets at which sentences begin.

    Where the parser begins one, and where a new subject follows a complete clause.

    Args:
        doc: The text in lower case, parsed.
    """
    return [token.idx for token in doc if token.is_sent_start or _starts_new_sentence(token)]


def _starts_new_sentence(token: Token) -> bool:
    """Whether a word like "I" or "my" begins a clause that nothing joins to the previous one."""
    if token.i == 0 or token.lower_ not in _SUBJECTS or token.nbor(-1).pos_ in _CONTINUING_POS:
        return False
    subject = token.head if token.dep_ == "poss" else token
    verb = subject.head
    if (
        subject.dep_ not in ("nsubj", "nsubjpass", "expl")
        or verb.i < token.i
        or any(child.dep_ == "mark" for child in verb.lefts)
    ):
        return False
    return verb.dep_ not in ("relcl", "acl") or token.nbor(-1).pos_ == "PROPN"


def truecase(doc: Doc, starts: Collection[int], known: Sequence[str] = ()) -> str:
    """Capitalise sentence starts, names and "I".

    Args:
        doc: The text in lower case, parsed with named entities.
        starts: Offsets at which sentences begin.
        known: Names known from earlier turns.

    Returns:
        A text of the same length.
    """
    letters = list(doc.text)
    for place in (*starts, *_capital_offsets(doc, known)):
        capital = letters[place].upper()
        if len(capital) == 1:
            letters[place] = capital
    return "".join(letters)


def _capital_offsets(doc: Doc, known: Sequence[str]) -> Iterator[int]:
    """Yield the offsets of the first letters of names and of "I"."""
    yield from (
        token.idx
        for token in doc
        if (token.lower_ in _CAPITALISED or _is_name_token(token)) and not _is_letter(token)
    )
    for start, stop in known_spans(doc.text, known):
        yield from (
            place for place in range(start, stop) if place == start or doc.text[place - 1] == " "
        )


def _is_letter(token: Token) -> bool:
    """Whether a token is one of several letters that are read out."""
    return len(token) == 1 and is_spelt(token)


def _is_name_token(token: Token) -> bool:
    """Whether a word is a name by its tag or its named entity, and no stop word."""
    if token.dep_ == "compound" and token.head.pos_ == "NOUN" and not token.ent_type_:
        return False  # "gate" in "the gate code"
    return token.pos_ == "PROPN" or (
        token.ent_type_ in ENTITY_TYPES | {"NORP", "LANGUAGE"} and not token.is_stop
    )
