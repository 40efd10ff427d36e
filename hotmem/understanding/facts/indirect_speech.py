"""Sentences in the third person: "my knee operation is on the fourth" → "The user's knee ...".

The words stay as they were said, numbers and codes to the digit; only who speaks, who is spoken to,
and the verbs that agree with them change. Hesitations, stutter and what the speaker repaired are
left out.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from hotmem.types.understanding import Doc, Token
from hotmem.understanding.facts.assertion import VERB_TAGS, drops_subject
from hotmem.understanding.facts.corrections import repair_spans
from hotmem.understanding.facts.rewriting import find_contrasts
from hotmem.understanding.facts.spelled_codes import is_spelt, opens_code
from hotmem.understanding.facts.third_person import (
    direct_speech,
    is_filler,
    sentence,
    third_person_verb,
    without_stutter,
)
from hotmem.understanding.lexicon import ELDERS

BOT: Final = "the bot"
"""Whom the speaker talks to."""

GROUP: Final = "and others"
"""What "we" adds to the speaker."""

_OPEN_POS: Final = frozenset({"INTJ", "CCONJ", "PUNCT", "SPACE", "SYM"})
"""Parts of speech that a sentence need not begin with."""

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass"})
_AUXILIARIES: Final = frozenset({"aux", "auxpass"})
_REQUESTING: Final = frozenset({"can", "could", "will", "would"})
_PRONOUNS: Final = {"i": "{}", "me": "{}", "myself": "themselves", "ourselves": "themselves"}
_POSSESSIVES: Final = frozenset({"my", "our", "mine", "ours"})
_ENDS: Final = frozenset({".", "!", "?", "…"})
_CLOSING: Final = " ,;:-–—/&"


def third_person(doc: Doc, span: tuple[int, int], speaker: str) -> str:
    """Put part of an utterance into the third person, as one or more full sentences.

    Args:
        doc: The parsed utterance.
        span: First character of the part in `doc.text`, and one past its last.
        speaker: Who said it: a name, or "the user".

    Returns:
        Sentences with capitals and full stops; "" if nothing but hesitation is left.
    """
    left_out = [
        *repair_spans(doc),
        *((contrast.start, contrast.stop) for contrast in find_contrasts(doc)),
    ]
    tokens = [
        token
        for token in doc
        if token.idx < span[1]
        and token.idx + len(token) > span[0]
        and not any(start <= token.idx < stop for start, stop in left_out)
    ]
    tokens = without_stutter([token for token in tokens if not is_filler(token)])
    reported = (_IndirectSentence(part, speaker).text() for part in _sentences(tokens))
    return " ".join(filter(None, reported))


def reworded(tokens: Sequence[Token], speaker: str) -> str:
    """Put words that are no sentence into the third person: "my partner" → "the user's partner".

    Args:
        tokens: The words, in order.
        speaker: Who said them.
    """
    spoken = without_stutter([token for token in tokens if not is_filler(token)])
    return _IndirectSentence(spoken, speaker).words()


def _continues_code(token: Token) -> bool:
    """Whether a token and the one before it belong to the same code or number."""
    return token.i > 0 and is_spelt(token) and is_spelt(token.nbor(-1))


def _sentences(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each sentence; a fragment without a clause stays with its neighbour."""
    found: list[list[Token]] = []
    for token in tokens:
        begins = not found or (token.is_sent_start and not _continues_code(token))
        if begins:
            found.append([])
        found[-1].append(token)
    merged: list[list[Token]] = []
    for part in found:
        if (
            merged
            and merged[-1][-1].text not in _ENDS
            and not (_has_clause(part) and _has_clause(merged[-1]))
        ):
            merged[-1] += part
        else:
            merged.append(part)
    yield from merged


def _has_clause(tokens: Sequence[Token]) -> bool:
    return any(
        token.dep_ in _SUBJECTS or (token.dep_ == "ROOT" and (drops_subject(token)))
        for token in tokens
    ) or any(map(_is_imperative, tokens))


class _IndirectSentence:
    """One sentence of an utterance in indirect speech.

    Args:
        tokens: Its tokens.
        speaker: Who said it.
    """

    def __init__(self, tokens: Sequence[Token], speaker: str) -> None:
        self._speaker = speaker
        self._tokens = _without_opening(tokens)
        self._quoted = direct_speech(self._tokens)
        self._agreeing = dict(self._agreement())

    def text(self) -> str:
        """The sentence; "" if no word is left."""
        if not any(token.is_alpha or token.like_num for token in self._tokens):
            return "".join(token.text for token in self._tokens if token.is_digit)
        reported = self._request() or self._join(self._restored_subject(), self._tokens)
        reported = reported.strip(_CLOSING)
        if reported.endswith("?"):
            return f"{reported[:1].upper()}{reported[1:]}"
        return sentence(reported)

    def words(self) -> str:
        """The words as they are, without a subject that is left out."""
        return self._join("", self._tokens)

    def _request(self) -> str:
        """What the speaker asks the bot to do; "" if the sentence is no request."""
        verb = next(
            (token for token in self._tokens if _is_imperative(token) or _is_asked(token)), None
        )
        if verb is None:
            return ""
        mine = [child for child in verb.lefts if child.dep_ in (*_AUXILIARIES, *_SUBJECTS, "neg")]
        negated = any(child.dep_ == "neg" and child.lower_ != "never" for child in mine)
        dropped = {child for child in mine if child.lower_ != "never"}
        before = [token for token in self._tokens if token.i < verb.i and token not in dropped]
        adverbs = [token for token in before if token.head == verb and token.pos_ == "ADV"]
        moved = [token for token in before if token not in adverbs or len(before) > len(adverbs)]
        adverbs = [token for token in adverbs if token not in moved]
        asked = self._join("", [*adverbs, *(token for token in self._tokens if token.i >= verb.i)])
        asked = f"{asked.rstrip('?.! ')} {self._join('', _without_opening(moved))}".strip(_CLOSING)
        return f"{self._speaker} wants {BOT} {'not to' if negated else 'to'} {asked}"

    def _restored_subject(self) -> str:
        """The subject, and its auxiliary, where the first verb of the part has none of its own."""
        inside = {token.i for token in self._tokens}
        first = next((token for token in self._tokens if token.pos_ != "ADV"), self._tokens[0])
        if first.pos_ not in VERB_TAGS:
            return ""
        verb = first.head if first.dep_ in _AUXILIARIES else first
        if drops_subject(verb):
            return self._speaker
        owner = verb
        while owner.dep_ == "conj" and not any(one.dep_ in _SUBJECTS for one in owner.children):
            owner = owner.head
        subject = next((one for one in owner.lefts if one.dep_ in _SUBJECTS), None)
        if subject is None or subject.i in inside or subject.tag_ in ("WDT", "WP"):
            return ""
        helpers = [
            one
            for one in owner.lefts
            if one.i not in inside
            and (one.dep_ in _AUXILIARIES or one.dep_ == "neg")
            and subject.i < one.i < first.i
        ]
        return self._join("", [*subject.subtree, *helpers])

    def _agreement(self) -> Iterator[tuple[int, str]]:
        """Yield the positions of the verbs whose subject is the speaker, with their new forms."""
        for token in self._tokens[0].doc if self._tokens else ():
            if token.pos_ not in VERB_TAGS and token.dep_ not in _AUXILIARIES:
                continue
            verb = token.head if token.dep_ in _AUXILIARIES else token
            subject = _subject_of(verb)
            if subject is None and drops_subject(verb):
                if _finite(verb) == token and not token.lower_.endswith("ed"):
                    yield token.i, third_person_verb(token)
            elif subject is None or subject.i in self._quoted or not _is_first_person(subject):
                before = self._before(token)
                if before is not None and before.lower_ == "i" and token.lower_ in _FORMS_OF_I:
                    yield token.i, third_person_verb(token)
            elif _finite(verb) == token:
                yield token.i, _agreeing_form(token, subject)

    def _before(self, token: Token) -> Token | None:
        return token.nbor(-1) if token.i else None

    def _join(self, prefix: str, tokens: Sequence[Token]) -> str:
        text = prefix
        for before, token in pairwise([None, *tokens]):
            assert token is not None
            word = self._word(token)
            starts = token.is_sent_start and not _continues_code(token)
            if before is not None and starts and token.pos_ not in _OPEN_POS:
                if text[-1:] in _ENDS:
                    word = f"{word[:1].upper()}{word[1:]}"
                else:
                    text = f"{text.rstrip(_CLOSING)},"
            apart = before is None or before.i + 1 != token.i or bool(before.whitespace_)
            if not apart and word != token.text and text[-1:].isalnum() and word[:1].isalpha():
                apart = word != "not" or not text.endswith("can")
            if not apart or (token.is_punct and token.text in ",.;:!?"):
                text = text.rstrip(" ,") + word if word in ",.;:!?" else text + word
            elif word:
                text = f"{text} {word}"
        return text.strip()

    def _word(self, token: Token) -> str:
        word = token.lower_
        if token.i in self._quoted:
            return self._quoted[token.i]
        if token.i in self._agreeing:
            return self._agreeing[token.i]
        if is_spelt(token):
            return token.text
        if word == "i":
            return self._speaker
        if token.tag_ in ("PRP", "PRP$") or token.pos_ == "PRON" or _is_mine(token):
            if word in _PRONOUNS:
                return _PRONOUNS[word].format(self._speaker)
            if word in ("we", "us") and token.text[0] not in "'’":
                return f"{self._speaker} {GROUP}"
            if word in _POSSESSIVES:
                following = token.doc[token.i + 1 : token.i + 2].text.lower()
                return "their" if following == "own" else f"{self._speaker}'s"
            if word == "you" and _is_bot(token):
                return BOT
        if word in ELDERS and _is_own_elder(token):
            return f"{self._speaker}'s {word}"
        if word in ("n't", "n’t", "nt") and self._before(token) is not None:
            tag = any(one.dep_ in _SUBJECTS for one in token.doc[token.i + 1 : token.i + 2])
            return token.text if tag or token.nbor(-1).lower_ == "ai" else "not"
        if word in ("ca", "wo", "sha") and token.doc[token.i + 1 : token.i + 2].text[:1] in "n":
            return token.norm_
        if word in ("gon", "na", "ta") and token.norm_ != word:
            return token.norm_
        if (
            token.is_sent_start
            and token.pos_ != "PROPN"
            and token.is_title
            and token.i not in (entity.start for entity in token.doc.ents)
        ):
            return word
        return token.text


_FORMS_OF_I: Final = frozenset({"am", "'m", "’m", "m", "'ve", "’ve", "have", "was", "do"})


def _is_mine(token: Token) -> bool:
    """Whether "mine" is the pronoun, whatever its tag."""
    return token.lower_ == "mine" and token.dep_ in ("attr", "acomp") and not any(token.lefts)


def _without_opening(tokens: Sequence[Token]) -> list[Token]:
    """Leave out interjections and conjunctions at the start, unless nothing else is left."""
    rest = list(tokens)
    while (
        rest
        and rest[0].pos_ in _OPEN_POS
        and rest[0].text not in "\"'“‘$£€#+("
        and not opens_code(rest[0])
    ):
        del rest[0]
    return rest or list(tokens)


def _subject_of(verb: Token) -> Token | None:
    """The subject of a verb, or the one it shares with the verb it is coordinated with."""
    own = next((one for one in verb.children if one.dep_ in _SUBJECTS), None)
    if own is not None or verb.dep_ != "conj" or verb.head.pos_ not in VERB_TAGS:
        return own
    governed = any(one.dep_ in _AUXILIARIES for one in verb.head.children)
    alone = any(one.dep_ in _AUXILIARIES for one in verb.children)
    if verb.tag_ == "VBP" or (verb.tag_ == "VB" and not governed) or alone:
        return _subject_of(verb.head)
    return None


def _is_first_person(subject: Token) -> bool:
    """Whether a subject is the speaker; in "let me keep it" the verb does not agree with "me"."""
    if subject.lower_ == "me" and subject.head.dep_ in ("ccomp", "xcomp"):
        return False
    return subject.lower_ in ("i", "we", "me") and subject.pos_ == "PRON"


def _finite(verb: Token) -> Token | None:
    """The word of a verb phrase that agrees with its subject."""
    helpers = [one for one in verb.children if one.dep_ in _AUXILIARIES and one.tag_ != "TO"]
    if helpers:
        return min(helpers, key=lambda one: one.i)
    return None if any(one.tag_ == "TO" for one in verb.lefts) else verb


def _agreeing_form(finite: Token, subject: Token) -> str:
    """The form of a verb after the speaker, alone or with others."""
    plural = subject.lower_ == "we" or any(one.dep_ == "conj" for one in subject.children)
    if finite.lower_ == "got" and finite.doc[finite.i + 1 : finite.i + 2].text.lower() == "ta":
        return "have" if plural else "has"
    if not plural:
        return third_person_verb(finite)
    said = finite.lower_.replace("’", "'")
    if said in ("'m", "m", "am", "'s", "'re"):
        return "are"
    if said == "'d":
        return "had" if finite.lemma_ == "have" else "would"
    return finite.norm_ if said[0] == "'" or said in ("ca", "wo") else finite.text


def _is_own_elder(token: Token) -> bool:
    """Whether a word like "Dad" means the speaker's, and is no part of a name."""
    following = token.doc[token.i + 1 : token.i + 2]
    return (
        token.pos_ in ("NOUN", "PROPN")
        and token.tag_ not in ("NNS", "NNPS")
        and token.dep_ != "compound"
        and not any(one.dep_ in ("det", "poss", "compound", "amod") for one in token.children)
        and not (following and following[0].pos_ == "PROPN" and token.whitespace_)
    )


def _is_imperative(verb: Token) -> bool:
    """Whether a verb is a command: base form, no subject, at the root of its sentence.

    A word with a determiner is a noun, whatever its tag: "no gluten for me".
    """
    return (
        verb.dep_ == "ROOT"
        and verb.tag_ == "VB"
        and verb.lower_ == verb.lemma_.lower()
        and not drops_subject(verb)
        and verb.doc[verb.i + 1 : verb.i + 2].text not in ("'s", "’s")
        and not any(one.dep_ in (*_SUBJECTS, "expl", "det") for one in verb.children)
        and all(one.lower_ == "do" for one in verb.children if one.dep_ in _AUXILIARIES)
        and not any(one.pos_ in ("NOUN", "PROPN") and one.head == verb for one in verb.lefts)
    )


def _is_asked(verb: Token) -> bool:
    """Whether a verb is what the bot is asked for: "can you wake me at six"."""
    return (
        verb.dep_ == "ROOT"
        and verb.pos_ in VERB_TAGS
        and any(one.lower_ == "you" and one.dep_ == "nsubj" for one in verb.lefts)
        and any(
            one.norm_ in _REQUESTING and one.dep_ == "aux" and one.i < subject.i
            for one in verb.lefts
            for subject in verb.lefts
            if subject.lower_ == "you"
        )
        and not any(one.tag_ in ("WP", "WRB", "WDT") for one in verb.lefts)
    )


def _is_bot(you: Token) -> bool:
    """Whether "you" is the bot, not anybody: the speaker, or a request, does something with it."""
    verb = you.head
    while verb.pos_ not in VERB_TAGS and verb.head != verb:
        verb = verb.head
    if you.dep_ in _SUBJECTS:
        above = verb.head
        return verb.dep_ in ("ccomp", "xcomp") and (
            (subject := _subject_of(above)) is not None and _is_first_person(subject)
        )
    subject = _subject_of(verb)
    return (subject is not None and _is_first_person(subject)) or _is_imperative(verb)
