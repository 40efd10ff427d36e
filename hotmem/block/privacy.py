"""Private statements, such as codes and secrets, which are withheld until asked for.

Another person may be listening, and what the language model is not shown it cannot say.
"""

import re
from typing import Final

from hotmem.types import Evidence, Query

_PRIVATE: Final = re.compile(
    r"\b(?:pins?|pin\s+code|pass\s?words?|passcodes?|passphrase|codes?|combination|puk|(?-i:TAN)"
    r"|(?:account|card|security|insurance|passport)\s+(?:number|question)|api\s+key|cvv|cvc"
    r"|(?:unlocks?|opens?|log\s+in(?:to)?\b.{0,60}?)\s+with\s+\w*\d|key\s+(?:for|of|to)\s+the\s+wi-?fi"
    r"|wi-?fi\s+key|iban|secrets?|secretly|surprise|nobody\s+knows|no\s+one\s+knows"
    r"|(?:doesn['’]?t|don['’]?t|must\s*n['’]?t|must\s+not)\s+(?:know|tell|find\s+out)"
    r"|confiden\w+|between\s+(?:us|you\s+and\s+me)|affair|salary|hiv|abortion|miscarriage"
    r"|keep\s+(?:this|that|it)\s+(?:to\s+yourself|quiet|private))\b",
    re.IGNORECASE,
)

MIN_RELEVANCE: Final = 0.05
MIN_RELEVANCE_TO_REMARK: Final = 0.2
"""Relevance from which a question, or a remark such as "I can't remember the wifi password", counts
as asking for it. Of 24 questions for codes and secrets, all reach it: "How do I get online here?"
has 0.07."""

MIN_SHARE: Final = 0.3
"""Share of the best statement's relevance that a question needs as well."""

MIN_NAMING_WORDS: Final = 2
"""Content words from which a query, all of whose words are in a statement and one of which is a
word such as "code", asks for it whatever its relevance: until a new statement is embedded, that is
low."""


def is_private(text: str) -> bool:
    """Whether a statement contains a code or a secret."""
    return _PRIVATE.search(text) is not None


def is_withheld(query: Query, found: Evidence, relevance: float, best: float) -> bool:
    """Whether a statement is private and the user does not ask for it.

    Args:
        query: The analysed utterance.
        found: The statement.
        relevance: Its relevance, 0 to 1.
        best: Relevance of the best statement.
    """
    asked = (
        max(MIN_RELEVANCE, MIN_SHARE * best) if query.analysis.question else MIN_RELEVANCE_TO_REMARK
    )
    return relevance < asked and is_private(found.text) and not _is_named(query, found)


def _is_named(query: Query, found: Evidence) -> bool:
    """Whether a query names a secret in the words of a statement."""
    words = query.stems
    return len(words) >= MIN_NAMING_WORDS and words <= found.terms and is_private(query.text)
