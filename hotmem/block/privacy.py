"""Private statements, such as codes and secrets, which are withheld until asked for.

Another person may be listening when a bot speaks first or answers a remark.
"""

import re
from typing import Final

from hotmem.types import Query

_PRIVATE: Final = re.compile(
    r"\b(?:pins?|pin\s+code|passwords?|passcodes?|passphrase|codes?|combination|account\s+number"
    r"|iban|secrets?|secretly|surprise|nobody\s+knows|no\s+one\s+knows"
    r"|(?:doesn['’]?t|don['’]?t|must\s*n['’]?t|must\s+not)\s+(?:know|tell|find\s+out)"
    r"|confiden\w+|between\s+us|affair|salary|hiv|abortion|miscarriage"
    r"|keep\s+(?:this|that|it)\s+(?:to\s+yourself|quiet|private))\b",
    re.IGNORECASE,
)

MIN_RELEVANCE: Final = 0.2
"""Relevance from which a remark counts as asking: "I can't remember the wifi password"."""


def is_private(text: str) -> bool:
    """Whether a statement contains a code or a secret."""
    return _PRIVATE.search(text) is not None


def is_withheld(query: Query, text: str, relevance: float) -> bool:
    """Whether a statement is private and the user does not ask for it.

    Args:
        query: The analysed utterance.
        text: The statement.
        relevance: Its relevance, 0 to 1.
    """
    return not query.analysis.question and relevance < MIN_RELEVANCE and is_private(text)
