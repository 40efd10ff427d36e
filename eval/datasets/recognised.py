"""Conversations as many speech recognisers write them: lower case, without punctuation."""

import re
from dataclasses import replace
from typing import Final

from eval.datasets.base import Conversation, Session

_PUNCTUATION: Final = re.compile(r"(?!(?<=\w)['’](?=\w))[^\w\s]|_")


def as_recognised(conversation: Conversation) -> Conversation:
    """Return the conversation with every turn and question as recognised.

    A turn of punctuation only is unchanged.
    """
    sessions = tuple(
        Session(
            session.id,
            tuple(replace(turn, text=plain(turn.text) or turn.text) for turn in session.turns),
        )
        for session in conversation.sessions
    )
    questions = tuple(
        replace(question, text=plain(question.text) or question.text)
        for question in conversation.questions
    )
    return replace(conversation, sessions=sessions, questions=questions)


def plain(text: str) -> str:
    """Return the words of a text in lower case, separated by single spaces."""
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())
