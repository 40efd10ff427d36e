"""Answers, read with their question: "Do you smoke?" – "No" → "The user does not smoke".

An answer may leave out what the question says (ellipsis; Hobbs 1979, "Coherence and coreference").
The statement is made from the parse of the question: turned round, with "you" as the speaker, its
polarity or its gap filled by the answer. Where that is not certain, both are quoted.
"""

import re
from typing import Final

from hotmem.text.numerals import ONES, TENS
from hotmem.types.understanding import Doc, Span, Token
from hotmem.understanding.facts.assertion import is_complete
from hotmem.understanding.facts.indirect_speech import BOT, third_person
from hotmem.understanding.facts.question_statements import (
    AUXILIARIES,
    SUBJECTS,
    WH,
    Question,
    Voice,
    without_opening,
)
from hotmem.understanding.facts.statements import RewrittenText, Segment
from hotmem.understanding.facts.third_person import sentence

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
    if last[-1].text == "?" or _is_interrogative(last):
        return last
    return None


def _is_interrogative(part: Span) -> bool:
    """Whether a sentence without a mark asks: it begins with a question word or is inverted."""
    tokens = without_opening(list(part))
    root = part.root
    if tokens and tokens[0].tag_ in WH and part[-1].text not in ".!":
        return True
    subject = next((one for one in root.children if one.dep_ in SUBJECTS), None)
    return (
        subject is not None
        and part[-1].text not in ".!"
        and (
            (root.lemma_ == "be" and root.i < subject.i)
            or any(one.dep_ in AUXILIARIES and one.i < subject.i for one in root.children)
        )
    )


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


_AGE: Final = re.compile(rf"\d{{1,3}}|{'|'.join(ONES[1:])}|(?:{'|'.join(TENS)})(?:-\w+)?")


def age_of(value: Token) -> str:
    """Return the years of "34", "thirty-four", "34 years old" or "five"; "" for other words."""
    if value.lower_ == "old":
        years = next((child for child in value.children if child.lemma_ == "year"), None)
        number = (
            next((child for child in years.children if child.dep_ == "nummod"), None)
            if years is not None
            else None
        )
        return number.text if number is not None else ""
    words = value.doc[value.left_edge.i : value.i + 1]
    numeral = words.text if all(token.pos_ in ("NUM", "PUNCT") for token in words) else value.text
    plain = value.pos_ == "NUM" and not any(
        child.dep_ not in ("punct", "advmod", "compound", "nummod") for child in value.children
    )
    return numeral if plain and _AGE.fullmatch(numeral.lower()) and _ends_clause(value) else ""


def _ends_clause(value: Token) -> bool:
    """Whether nothing follows the number but "now", the end of the clause or a conjunction."""
    following = value.doc[value.i + 1] if value.i + 1 < len(value.doc) else None
    return (
        following is None
        or following.is_punct
        or following.pos_ in ("CCONJ", "SCONJ")
        or following.lower_ in ("now", "already", "today")
    )
