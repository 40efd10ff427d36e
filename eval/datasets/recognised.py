"""A conversation as many recognisers write it.

In lower case, without punctuation but for apostrophes.
"""

import re
from dataclasses import replace
from typing import Final

from eval.datasets.base import Conversation, Session

_PUNCTUATION: Final = re.compile(r"(?!(?<=\w)['’](?=\w))[^\w\s]|_")


def as_recognised(conversation: Conversation) -> Conversation:
    """The conversation with every turn and question as recognised.

    A turn of punctuation alone stays as it is.
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
    """The words of a text, in lower case, with single spaces."""
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())
