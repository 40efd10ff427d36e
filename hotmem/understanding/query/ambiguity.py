"""Detection of ambiguous words, which refer outside their utterance: "she", "the other one"."""

import re
from collections.abc import Iterator
from typing import Final

from hotmem.text.word_sets import word_sets, wordlist
from hotmem.types.understanding import Doc, Token
from hotmem.understanding.query.cues import QUESTION
from hotmem.understanding.query.entities import PERSON_NOUNS, RELATIONAL_NOUNS, is_time

_WORDS: Final = word_sets(__file__)

PRONOUNS: Final = _WORDS["pronouns"]
POSSESSIVES: Final = wordlist("his hers theirs")
"""Pronouns that stand for what belongs to somebody: "when's hers?"."""

SINGULAR_PEOPLE: Final = wordlist("he she him her his hers himself herself")
PLURALS: Final = wordlist("they them their theirs themselves these those ones")
PLACES: Final = frozenset({"here", "there"})
FRAGMENTS: Final = wordlist("what about how and why more")
"""Words of the phrases that open a fragment: "what about", "and", "why", "more"."""

WEATHER: Final = _WORDS["weather"]
"""Predicates of the pleonastic "it" of the weather."""

FAMILIAR: Final = _WORDS["familiar"]
"""Nouns that need no explanation with "the": what there is one of in a home or a town, which
speakers and listeners know without its having been mentioned (larger situation use, Hawkins,
Definiteness and Indefiniteness, 1978)."""

_DEMONSTRATIVES: Final = wordlist("this that these those")
_TIME_UNITS: Final = wordlist("year day hour minute moment time")
_IMPLICIT: Final = re.compile(
    r"\b(?:the (?:rest|remainder|latter|former)\b"
    r"|the (?:same|other|second|first|last|previous|next)"
    r"(?! (?:day|week|month|year|hour|night|morning|weekend|few|couple)s?\b)"
    r"(?: (?:one|thing|place|time|way|person|guy|book|issue|problem))?|"
    r"as usual|like before|like last time|(?:the|that|this) (?:problem|issue|thing|one|guy|place"
    r"|topic|idea|plan)|"
    r"(?:tell me |any)?more (?:about|on) (?:that|it|this)|else|"
    r"again|earlier|last time|before that|back then|the other day|that time|anymore|any more)\b",
    re.IGNORECASE,
)
_TIME_PHRASE: Final = re.compile(r"^the (?:first|last|next|previous|other) time$", re.IGNORECASE)
_ASKS_AGAIN: Final = re.compile(r"\b(?:wh\w+|how)\b.*,\s*again\W*$", re.IGNORECASE)
"""A question to be reminded: "where do we meet, again?"."""
_OPENING: Final = r"^\W*(?:(?:ok|okay|so|but|oh|well|yes|no|thanks|great|interesting)\W+)*"
_FRAGMENT: Final = re.compile(
    _OPENING
    + (
        r"(?:and\W+)?((?:what|how) about|and(?=\W+(?!who|what|when|where|why|how|do|does|did|is"
        r"|are|was|were|i\b|we\b)\w))\b"
    ),
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    _OPENING
    + (
        r"(?:and\W+|(?:please|can you|could you)\W+)*(?:tell me |say |go on\W*)?(more|why|why not"
        r"|how so|how come)(?: please)?\W*$"
    ),
    re.IGNORECASE,
)
_COMPARISONS: Final = wordlist("differ compare different difference")
_COMPARISON_LINKS: Final = wordlist("than from to between with and")
_COMPLEMENT_MARKERS: Final = wordlist("of for between behind about with that who which to")
_QUESTION_MARKERS: Final = frozenset(
    {"?", *wordlist("what which who where when how why tell describe is are any")}
)
_DESCRIPTIONS: Final = wordlist("relcl acl amod compound")
"""What makes a noun after a demonstrative clear by itself: "these dietary restrictions"."""

_PARTICIPANTS: Final = wordlist("i me my mine we us our you your")
WEATHER_TOPICS: Final = WEATHER | wordlist("weather temperature forecast wind humidity temp cloud")
"""Topics that depend on a place and a time, even if none is mentioned."""

_PLEONASTIC: Final = WEATHER | wordlist("time late early dark far")
_CLAUSES: Final = wordlist("ROOT conj advcl ccomp relcl acl pcomp")
_SUBJECTS: Final = wordlist("nsubj nsubjpass")


def find_ambiguous(doc: Doc) -> tuple[str, ...]:
    """Find the ambiguous words, lower case, in order, without duplicates.

    A pronoun counts if it has no possible antecedent before it in the utterance; pleonastic "it",
    existential "there" and the relative "that" never count. If no word or phrase counts, elliptical
    expressions do: nouns and comparisons without their complement ("the symptoms", "the largest",
    "how is it different?"), and openings of fragments ("what about", "why").
    """
    found: dict[str, int] = {}
    for token in doc:
        if _refers_outside(token):
            found.setdefault(token.lower_, token.idx)
    for match in _IMPLICIT.finditer(doc.text):
        phrase = match[0].lower()
        if phrase == "again" and _ASKS_AGAIN.search(doc.text):
            continue
        if not _TIME_PHRASE.match(phrase) and not any(word in phrase.split() for word in found):
            found.setdefault(phrase, match.start())
    if not found:
        for word, place in _find_ellipsis(doc):
            found.setdefault(word, place)
    return tuple(sorted(found, key=found.__getitem__))


def _refers_outside(token: Token) -> bool:
    word = token.lower_
    if _is_courtesy(token):
        return False
    if word in POSSESSIVES and token.dep_ != "poss":
        return not _has_antecedent(token)
    if word in PRONOUNS and token.pos_ in ("PRON", "DET", "ADJ"):
        return token.dep_ != "expl" and not is_pleonastic(token) and not _has_antecedent(token)
    if word in _DEMONSTRATIVES:
        if token.dep_ == "det" and token.head.pos_ == "NOUN":
            return not (is_time(token.head) or token.head.lemma_ in _TIME_UNITS) and not any(
                child.dep_ in _DESCRIPTIONS for child in token.head.children
            )
        return (
            token.tag_ == "DT"
            and token.dep_ not in ("mark", "det", "advmod")
            and token.head.i >= token.i - 4
        )
    if word in PLACES:
        return (
            token.dep_ == "advmod"
            and token.i > 0
            and not _has_place_before(token)
            and "many" not in {other.lower_ for other in token.doc}
        )
    return False


def _is_courtesy(token: Token) -> bool:
    """Whether a pronoun refers to the previous turn in a courtesy.

    "That's great", "thanks for that", "thanks for that suggestion".
    """
    object_ = token.head if token.dep_ == "det" else token
    if (
        object_.dep_ == "pobj"
        and object_.head.lower_ == "for"
        and object_.head.head.lemma_.lower() in ("thank", "thanks")
    ):
        return True
    verb = token.head
    judges = (
        token.dep_ == "nsubj"
        and verb.lemma_ in ("be", "sound", "look", "seem")
        and any(child.dep_ in ("acomp", "attr") for child in verb.rights)
    )
    return (
        judges
        and token.lower_ in ("that", "it", "this", "these", "those", "they")
        and token.i < verb.i
        and not QUESTION.search(token.sent.text)
    )


def is_pleonastic(token: Token) -> bool:
    """Whether an "it" is pleonastic: of the weather, the time, a way, or a following clause."""
    if token.lower_ != "it" or token.dep_ not in _SUBJECTS:
        return False
    verb = token.head
    if verb.lemma_ in ("seem", "take"):
        return True
    said = [
        verb,
        *(
            child
            for child in verb.rights
            if child.dep_ in ("acomp", "attr", "xcomp", "advmod", "oprd")
        ),
    ]
    if verb.lemma_ == "be" and any(part.dep_ == "attr" and is_time(part) for part in said):
        return True
    return any(
        word.lemma_.lower() in _PLEONASTIC
        for part in said
        for word in (part, *part.children)
        if word.dep_ not in ("nsubj", "dobj")
    )


def _has_antecedent(token: Token) -> bool:
    """Whether a noun before a pronoun can be its antecedent, by number, type and syntax."""
    plural = token.lower_ in PLURALS
    person = token.lower_ in SINGULAR_PEOPLE
    for other in token.doc[: token.i]:
        if (
            other.pos_ not in ("NOUN", "PROPN")
            or is_time(other)
            or (other.dep_ == "compound" and not person)
        ):
            continue
        if person:
            if (other.pos_ == "PROPN" or _is_person(other)) and not (
                other.head == token.head and token.dep_ != "poss"
            ):
                return True
        elif not _can_corefer(other, token):
            continue
        elif plural:
            if other.lower_.endswith("s") or other.conjuncts or other.pos_ == "PROPN":
                return True
        elif other.tag_ not in ("NNS", "NNPS") and other.ent_type_ != "PERSON":
            return True
    return False


def _can_corefer(noun: Token, pronoun: Token) -> bool:
    """Whether syntax allows a pronoun to refer to a noun.

    A pronoun is free in its own clause (principle B of binding theory, Chomsky 1981). "Its" and
    "their" may refer to the subject of their clause or to a conjunct.
    """
    if pronoun.dep_ == "poss" and (
        pronoun.head.head == noun if pronoun.head.dep_ == "conj" else noun.dep_ in _SUBJECTS
    ):
        return True
    return _clause_index(noun) != _clause_index(pronoun) and not noun.is_ancestor(pronoun)


def _clause_index(token: Token) -> int:
    """Index of the verb that heads a word's clause."""
    while token.dep_ != "ROOT" and not (token.dep_ in _CLAUSES and token.pos_ in ("VERB", "AUX")):
        token = token.head
    return int(token.i)


def _is_person(token: Token) -> bool:
    return (
        any(child.dep_ == "poss" for child in token.children)
        or token.lemma_.lower() in PERSON_NOUNS
    )


def _has_place_before(token: Token) -> bool:
    return any(
        other.dep_ == "pobj" and other.pos_ in ("NOUN", "PROPN") and not is_time(other)
        for other in token.doc[: token.i]
    )


def _find_ellipsis(doc: Doc) -> Iterator[tuple[str, int]]:
    """Find elliptical expressions, each with its character offset."""
    for pattern in (_FRAGMENT, _MORE):
        if match := pattern.match(doc.text):
            yield match[1].lower(), match.start(1)
    words = [token.lower_ for token in doc]
    if _QUESTION_MARKERS.isdisjoint(words):
        return
    for token in doc:
        if _is_open_comparison(token):
            yield token.lower_, token.idx
    if _PARTICIPANTS.intersection(words) or any(_is_named_argument(token) for token in doc[1:]):
        return
    for token in doc:
        if (
            _is_open_noun(token)
            or _is_open_superlative(token)
            or (token.lower_ in ("one", "ones") and token.dep_ != "nummod")
        ):
            yield token.lower_, token.idx
        elif (
            token.dep_ == "expl"
            and "any" in words
            and not any(other.dep_ == "prep" for other in doc)
        ):
            yield "any", doc[words.index("any")].idx


def _is_named_argument(token: Token) -> bool:
    """Whether a word is a name and an argument of a verb, which makes an utterance complete."""
    return (
        token.pos_ == "PROPN"
        and not is_time(token)
        and token.dep_ in ("nsubj", "nsubjpass", "poss", "dobj", "conj")
    )


def _is_open_noun(token: Token) -> bool:
    """Whether a noun lacks its complement: "the test", but not "the test of blood"."""
    if (
        token.pos_ != "NOUN"
        or is_time(token)
        or (token.dep_ == "compound" and not _is_mistagged_verb(token.head))
        or token.lemma_ in WEATHER_TOPICS
        or _is_mistagged_verb(token)
    ):
        return False
    if token.dep_ == "dobj" and any(
        child.dep_ == "nsubj" and child.pos_ in ("NOUN", "PROPN", "VERB")
        for child in token.head.children
    ):
        return False
    if any(
        child.dep_ in ("relcl", "acl", "poss", "appos") or child.pos_ == "PROPN"
        for child in token.children
    ):
        return False
    rest = [word.lower_ for word in token.doc[token.i + 1 :]]
    if token.lemma_ in RELATIONAL_NOUNS:
        return not any(word in ("of", "for", "between") for word in rest)
    phrase = token.head if token.dep_ == "compound" else token
    if phrase.lemma_ in FAMILIAR and any(word.pos_ in ("VERB", "AUX") for word in token.doc):
        return False
    definite = any(child.lower_ == "the" for child in phrase.children)
    return (
        definite
        and token.lemma_ not in ("world", "earth", "sun", "internet")
        and (not rest or rest[0] not in _COMPLEMENT_MARKERS)
        and not any(child.dep_ == "prep" and child.i > token.i for child in token.children)
    )


def _is_mistagged_verb(token: Token) -> bool:
    """Whether the tagger took a verb for a noun: "what does agility cost"."""
    return token.pos_ == "NOUN" and any(
        child.dep_ in ("aux", "auxpass") for child in token.children
    )


def _is_open_superlative(token: Token) -> bool:
    """Whether a superlative has no noun: "the largest"."""
    if token.tag_ not in ("JJS", "RBS"):
        return False
    return not any(
        other.pos_ in ("NOUN", "PROPN") for other in token.doc[token.i + 1 : token.i + 4]
    ) and not any(other.lower_ in ("which", "what") and other.dep_ == "det" for other in token.doc)


def _is_open_comparison(token: Token) -> bool:
    """Whether a comparison lacks its standard: "how is it different?"."""
    comparing = token.lemma_ in _COMPARISONS or (
        token.tag_ == "JJR" and token.dep_ in ("acomp", "attr")
    )
    return (
        comparing
        and token.dep_ != "amod"
        and not any(other.lower_ in _COMPARISON_LINKS for other in token.doc[token.i + 1 :])
    )
