"""Questions, turned round into statements: "do you smoke" → "the user smokes"."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.assertion import drops_subject, is_complete, polarity_of
from hotmem.understanding.facts.indirect_speech import BOT, reworded, third_person
from hotmem.understanding.facts.rewriting import RewrittenText, Segment
from hotmem.understanding.facts.third_person import sentence, third_person_verb
from hotmem.understanding.query.entities import ENTITY_TYPES

WH: Final = frozenset({"WP", "WP$", "WRB", "WDT"})
"""Tags of question words."""

SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl"})
AUXILIARIES: Final = frozenset({"aux", "auxpass"})
_OPENING: Final = frozenset({"INTJ", "CCONJ", "PUNCT", "SPACE"})
_FUNCTION_WORDS: Final = frozenset({"DET", "ADP", "CCONJ", "SCONJ", "PUNCT", "SPACE"})
"""Parts of speech that alone answer nothing: "the"."""

_PASSING: Final = frozenset({"want", "need", "mean", "know", "think", "feel", "remember"})
"""Verbs of what the user wants or thinks right now."""

_ENDS: Final = " .,!?;:"


@dataclass(frozen=True, slots=True)
class Voice:
    """How a question's words are said by the one who answers it.

    Attributes:
        subject: "you" as a subject.
        object: "you" elsewhere.
        possessive: "your".
        bot: "I" and "me" of the bot.
        first: Whether verbs agree with "I".
    """

    subject: str
    object: str
    possessive: str
    bot: str
    first: bool


def subject_of(asked: Span) -> Token | None:
    """The subject of a question; "you" after its verb, whatever its label: "how many have you"."""
    found = next((one for one in asked.root.children if one.dep_ in SUBJECTS), None)
    if found is not None and found.tag_ in WH and asked.root.lemma_ == "be":
        return next((one for one in asked.root.rights if one.dep_ == "attr"), found)
    if found is not None and found.lower_ != "you":
        found = next(
            (one for one in asked.root.rights if one.lower_ == "you" and one.i == asked.root.i + 1),
            found,
        )
    return found


class Question:
    """A question, turned round into what its answer states.

    Args:
        asked: The question.
        voice: How its words are said by the one who answers.
    """

    def __init__(self, asked: Span, voice: Voice) -> None:
        self._voice = voice
        self._tokens = [one for one in without_opening(list(asked)) if one.text != "?"]
        self._verb = asked.root
        self._subject = subject_of(asked)
        self._wh = next((one for one in self._tokens[:3] if one.tag_ in WH), None)
        self._aux = self._first_auxiliary()
        if self._wh is None and self._subject is not None:
            begins = [self._subject.left_edge, self._verb, *([self._aux] if self._aux else [])]
            first = min(one.i for one in begins)
            self._tokens = [one for one in self._tokens if one.i >= first]

    def _first_auxiliary(self) -> Token | None:
        helpers = [one for one in self._verb.lefts if one.dep_ in AUXILIARIES]
        if self._verb.lemma_ == "be" and not helpers:
            return self._verb
        return helpers[0] if helpers else None

    @property
    def passing(self) -> bool:
        """Whether it asks what the user wants or thinks right now, or offers something."""
        verb = self._verb
        return (
            any(one.tag_ == "MD" for one in verb.lefts)
            or verb.lemma_ in _PASSING
            or any(one.dep_ in ("xcomp", "ccomp") for one in verb.rights)
            or any(one.lower_ in ("i", "me", "my") and one.pos_ == "PRON" for one in self._tokens)
        )

    def with_answer(self, answer: Doc | Span) -> str | None:
        """What the answer states; None if the parse does not tell."""
        polarity, rest = polarity_of([token for token in answer if not token.is_space])
        if is_complete(rest) or any(
            token.pos_ == "VERB" and drops_subject(token) for token in rest
        ):
            return None
        said = _fragment(rest, self._voice)
        noun = self._noun()
        if noun is not None:
            return self._about_noun(noun, polarity, said)
        if self._subject is None:
            return None
        if self._wh is not None:
            known = polarity is None and said
            return self._fill_gap(rest, said) if known else None
        if polarity is None:
            adverbial = rest and rest[0].sent.root.pos_ in ("ADV", "ADP", "SCONJ")
            stated = self._declarative(affirmed=True) if adverbial else None
            return f"{stated} {said}" if stated is not None else None
        continues = not polarity and rest and rest[0].i and rest[0].nbor(-1).lower_ == "not"
        stated = self._declarative(affirmed=polarity)
        if stated is None or not said:
            return stated
        return f"{stated} {said}" if continues else f"{stated}, {'' if polarity else 'but '}{said}"

    def _noun(self) -> Token | None:
        """What is asked for by name: "Any allergies?", "Do you have a dog?", "Is there a code?"."""
        verb = self._verb
        if verb.pos_ in ("NOUN", "PROPN") and self._subject is None and self._wh is None:
            return verb
        if self._subject is None or self._wh is not None:
            return None
        there = verb.lemma_ == "be" and self._subject.dep_ == "expl"
        had = (verb.lemma_ == "have" and verb.tag_ in ("VB", "VBP")) or verb.lower_ == "got"
        if not there and not (had and (self._subject.lower_ == "you" or _is_noun(self._subject))):
            return None
        noun = next((one for one in verb.rights if one.dep_ in ("dobj", "attr")), None)
        if noun is None or noun.pos_ not in ("NOUN", "PROPN"):
            return None
        return noun if all(one.lower_ in ("any", "a", "an") for one in _determiners(noun)) else None

    def _about_noun(self, noun: Token, polarity: bool | None, said: str) -> str | None:
        owner = next((one for one in noun.lefts if one.dep_ == "poss"), None)
        if owner is not None and owner.pos_ == "PRON" and owner.lower_ != "your":
            return None
        left_out = {*_determiners(noun)} | ({owner} if owner and owner.pos_ == "PRON" else set())
        for child in noun.children:
            if child.dep_ in ("relcl", "cc", "intj", "punct") or child.i < self._tokens[0].i:
                left_out.update(child.subtree)
        named = self.render([one for one in noun.subtree if one not in left_out])
        there = self._subject is not None and self._subject.dep_ == "expl"
        if self._subject is None or self._subject.lower_ == "you":
            holder, owned = self._voice.subject, f"{self._voice.possessive} {named}"
        else:
            holder = self.render(list(self._subject.subtree))
            owned = f"the {named}" if there else f"{holder}'s {named}"
        if owner is not None and owner.pos_ != "PRON":
            holder, owned = "", named
        has = "there is" if there else f"{holder} {'have' if self._voice.first else 'has'}"
        if polarity is False:
            return f"{has} no {named}{', but ' if said else ''}{said}" if holder else None
        if said and self._voice.first and not there:
            if owner is not None:
                return f"{owned} {'are' if noun.tag_ == 'NNS' else 'is'} {said}"
            return f"{holder} have {said}" if self._voice.subject == holder else None
        if said:
            return f"{owned}: {said}"
        return f"{has} {named}" if polarity and holder else None

    def _fill_gap(self, rest: Sequence[Token], said: str) -> str | None:
        """The question turned round, with the answer in the place of its question word."""
        wh, verb, subject = self._wh, self._verb, self._subject
        assert wh is not None and subject is not None
        if subject.i <= wh.i or wh in subject.subtree:
            return f"{self.render(self._tokens)}: {said}"
        limit = self._aux.i if self._aux is not None and self._aux.i < subject.i else subject.i
        asked = [one for one in self._tokens if one.i < limit]
        counted = [one for one in asked if one.pos_ == "NOUN"]
        if verb.lemma_ == "be" and wh.lower_ in ("what", "who", "which", "how"):
            stated = self._declarative(affirmed=True, without=asked)
            return f"{stated} {said}" if stated is not None else None
        if self._aux is not None and self._aux.lower_ == "did":
            return None
        if counted and asked[1].lower_ in ("many", "much") and rest[0].like_num:
            numbers = [one for one in rest if one.like_num and one.i - rest[0].i < 4]
            last = numbers[-1].i
            number = _fragment([one for one in rest if one.i <= last], self._voice)
            further = _fragment([one for one in rest if one.i > last], self._voice, keep_mark=True)
            stated = self._declarative(
                affirmed=True, without=asked, filler=f"{number} {self.render(counted)}"
            )
            return f"{stated}{further}" if stated is not None else None
        stated = self._declarative(affirmed=True, without=asked)
        if stated is None:
            return None
        if (wh.lower_ == "where" and wh.i + 1 >= limit) or wh.lower_ == "when":
            if rest[0].pos_ in ("ADP", "ADV"):
                return f"{stated} {said}"
            if rest[0].pos_ in ("PROPN", "DET", "PRON") and wh.lower_ == "where":
                place = rest[0].ent_type_ in ("GPE", "LOC") or verb.lemma_ in ("be", "live")
                return f"{stated} {'in' if place else 'at'} {said}"
        thing = wh if wh.i + 1 >= limit else wh.head
        if thing.dep_ == "dobj" and verb.lemma_ != "do":
            return f"{stated} {said}"
        return f"{self.render(asked)} {stated}: {said}"

    def _declarative(
        self, *, affirmed: bool, without: Collection[Token] = (), filler: str = ""
    ) -> str | None:
        """The question as a statement, affirmed or denied; None if the parse does not tell."""
        verb, aux, subject = self._verb, self._aux, self._subject
        assert subject is not None
        own = set(subject.subtree)
        if (
            verb.lemma_ == "be"
            and not without
            and own.issuperset(one for one in self._tokens if one != verb)
        ):
            own = {one for one in own if one.i <= subject.i}
        own -= {verb, *without}
        phrase = [one for one in subject.subtree if one in own]
        helps = aux is not None and aux.lemma_ == "do" and aux != verb
        still = not affirmed and any(one.lower_ == "still" for one in verb.children)
        words = [self.render(phrase)]
        supported = helps and affirmed and aux is not None and aux.lower_ in ("do", "does")
        if aux is not None and not supported:
            words.append(self._agreeing(aux, subject))
        if not affirmed:
            words.append("not")
        rest = [
            one
            for one in self._tokens
            if one not in own
            and one not in without
            and one != aux
            and not (one.lower_ == "any" and one.dep_ == "det" and affirmed)
            and not (one.lower_ in ("ever", "yet") and affirmed)
            and not (one.lower_ == "still" and still)
        ]
        if supported or aux is None:
            before = [one for one in rest if one.i < verb.i]
            words += [self.render(before), self._agreeing(verb, subject)]
            rest = [one for one in rest if one.i > verb.i]
        if filler:
            first = [one for one in rest if one.i <= verb.i]
            words += [self.render(first), filler]
            rest = [one for one in rest if one.i > verb.i]
        words.append(self.render(rest))
        words.append("any more" if still else "")
        stated = " ".join(word for word in words if word).strip(_ENDS)
        return stated.replace("can not", "cannot")

    def _agreeing(self, finite: Token, subject: Token) -> str:
        """The form of a verb after the subject of the statement."""
        word = finite.norm_ if finite.text[0] in "'’" else finite.lower_
        word = "is" if finite.lower_ in ("'s", "’s") and finite.lemma_ == "be" else word
        if subject.lower_ != "you":
            plain = finite.tag_ == "VB" and subject.tag_ not in ("NNS", "NNPS")
            plural = subject.pos_ == "PRON" and subject.lower_ not in ("he", "she", "it")
            return third_person_verb(finite) if plain and not plural else word
        if self._voice.first:
            return {"are": "am", "were": "was", "'re": "am"}.get(word, word)
        return third_person_verb(finite) if finite.tag_ in ("VB", "VBP", "VBD") else word

    def render(self, tokens: Sequence[Token]) -> str:
        """Words of the question, said by the one who answers."""
        return "".join(f"{self._word(token)}{token.whitespace_ or ''}" for token in tokens).strip(
            _ENDS
        )

    def _word(self, token: Token) -> str:
        voice = self._voice
        match token.lower_:
            case "you":
                is_subject = token == self._subject or token.dep_ in SUBJECTS
                return voice.subject if is_subject else voice.object
            case "your":
                return voice.possessive
            case "i" | "me" if token.pos_ == "PRON":
                return voice.bot
            case "my" if token.pos_ == "PRON":
                return f"{voice.bot}'s"
        if not voice.first and token.tag_ == "VBP" and token not in (self._verb, self._aux):
            subject = next((one for one in token.lefts if one.dep_ in SUBJECTS), None)
            if subject is not None and subject.lower_ in ("i", "you"):
                return third_person_verb(token)
        at_start = token.is_sent_start and token.pos_ != "PROPN" and not token.ent_type_
        return token.lower_ if at_start else token.text


def _is_noun(token: Token) -> bool:
    return token.pos_ in ("NOUN", "PROPN")


def _determiners(noun: Token) -> list[Token]:
    return [one for one in noun.lefts if one.dep_ in ("det", "predet")]


def _fragment(tokens: Sequence[Token], voice: Voice, *, keep_mark: bool = False) -> str:
    """The words of an answer, in lower case where only the start of a sentence is capital."""
    if all(token.pos_ in _FUNCTION_WORDS for token in tokens):
        return ""
    first = tokens[0]
    words = first.doc[first.i : tokens[-1].i + 1].text
    if not voice.first:
        words = reworded(tokens, voice.subject)
    words = words.strip(_ENDS)
    named = first.pos_ == "PROPN" or first.ent_type_ in ENTITY_TYPES or not first.text[1:].islower()
    if not named or first.like_num or first.lower_ == "a":
        words = words[:1].lower() + words[1:]
    if not keep_mark:
        return words
    return f", {words}" if first.text == "," else f" {words}"


def without_opening(tokens: Sequence[Token]) -> list[Token]:
    """Leave out interjections and conjunctions at the start."""
    rest = list(tokens)
    while rest and (rest[0].pos_ in _OPENING or rest[0].tag_ == "UH"):
        del rest[0]
    return rest


_THIRD: Final = frozenset({"he", "she", "it", "they"})


def statement_of_answer(question: Doc, answer: Doc | Span, speaker: str) -> str:
    """State what an answer says, as a sentence in the third person.

    Args:
        question: The parsed turn of the bot, whose last question is answered.
        answer: The parsed answer, or the part of it that is to be kept.
        speaker: Who answers: a name, or "the user".

    Returns:
        "The user's allergies: just shellfish."; where the parse does not tell, both are quoted:
        'Asked "Any allergies?", the user said: "Just shellfish."'; "" if nothing was asked, or
        words of another sentence would be quoted.
    """
    asked = last_question(question)
    if asked is None:
        return ""
    voice = Voice(speaker, speaker, f"{speaker}'s", BOT, first=False)
    stated = Question(asked, voice).with_answer(answer)
    if stated is not None:
        return sentence(stated)
    if is_complete(answer):
        return _with_antecedent(_alone(answer, speaker), answer, asked, voice)
    return _quoted(asked, answer, speaker) if _answers(answer) else ""


def completed_answer(question: Doc, answer: Doc) -> RewrittenText | None:
    """Complete an answer by what its question says: "Not any more" → "I do not smoke any more".

    Args:
        question: The parsed turn of the bot before it.
        answer: The parsed turn.

    Returns:
        The turn with its first sentence completed; None if that is complete, if it answers no
        question or an offer, or if the parse does not tell.
    """
    asked = last_question(question)
    first = next((part for part in answer.sents if any(token.is_alpha for token in part)), None)
    if asked is None or first is None:
        return None
    turned = Question(asked, Voice("I", "me", "my", "you", first=True))
    stated = None if turned.passing else turned.with_answer(first)
    if stated is None or ":" in stated:
        return None
    text = answer.text
    return RewrittenText(
        (
            Segment(sentence(stated), first.start_char, first.end_char),
            Segment(text[first.end_char :], first.end_char, len(text)),
        )
    )


def last_question(doc: Doc) -> Span | None:
    """The last question of a turn; None if it does not end by asking something."""
    sentences = [part for part in doc.sents if any(token.is_alpha for token in part)]
    if not sentences:
        return None
    last = sentences[-1]
    words = without_opening([*last]) or [*last]
    by_word = last[-1].text not in ".!" and any(one.tag_ in WH for one in words[:2])
    return last if by_word or asks(words) else None


def asks(tokens: Sequence[Token]) -> bool:
    """Whether a sentence asks something, with or without a question mark.

    Without one, its verb comes before its subject: "is it far", "how much did it cost".

    Args:
        tokens: The sentence, without interjections and conjunctions at its start.
    """
    if tokens[-1].text == "?":
        return True
    verb = next((token for token in tokens[:3] if token.pos_ == "AUX"), None)
    if verb is None or (verb != tokens[0] and tokens[0].tag_ not in WH):
        return False
    words = (child for word in (verb, verb.head) for child in word.children)
    subject = next((child for child in words if child.dep_ in SUBJECTS), None)
    if subject is None or subject == tokens[0]:
        return verb != tokens[0]  # "who called?"
    return subject.i > verb.i


def _alone(answer: Doc | Span, speaker: str) -> str:
    """The answer alone, in the third person."""
    first, last = answer[0], answer[len(answer) - 1]
    return third_person(first.doc, (first.idx, last.idx + len(last)), speaker)


def _with_antecedent(stated: str, answer: Doc | Span, asked: Span, voice: Voice) -> str:
    """Replace a pronoun that begins the answer by the question's subject, if that is a noun."""
    subject = next((one for one in asked.root.children if one.dep_ in SUBJECTS), None)
    if subject is None or subject.pos_ not in ("NOUN", "PROPN"):
        return stated
    word = stated.replace("’", "'").split()[0].split("'")[0]
    if word.lower() not in _THIRD or (word.lower() == "they") != (subject.tag_ == "NNS"):
        return stated
    named = Question(asked, voice).render(list(subject.subtree))
    rest = stated[len(word) :]
    verb = next((one for one in answer if one.text in ("'s", "’s") and one.i), None)
    if verb is not None and rest[:2] == verb.text and verb.nbor(-1).lower_ == word.lower():
        rest = f" {'has' if verb.lemma_ == 'have' else 'is'}{rest[2:]}"
    return sentence(named + rest)


def _answers(answer: Doc | Span) -> bool:
    """Whether words without a verb of their own are the whole answer, and name something."""
    words = [token for token in answer if not token.is_punct]
    said = answer[0].sent
    begins = all(token.is_punct or token.pos_ == "INTJ" for token in said if token.i < words[0].i)
    return (
        begins
        and any(token.pos_ in ("NOUN", "PROPN", "NUM") for token in words)
        and not any(token.dep_ in ("nsubj", "nsubjpass") for token in said)
    )


def _quoted(asked: Span, answer: Doc | Span, speaker: str) -> str:
    question, said = asked.text.strip(), answer.text.strip()
    question = f"{question[:1].upper()}{question[1:]}"
    question = question if question[-1] in "?.!" else f"{question}?"
    said = f"{said[:1].upper()}{said[1:]}"
    said = said if said[-1] in ".!?" else f"{said}."
    return f'Asked "{question}", {speaker} said: "{said}"'
