"""Ages after "be": "I'm thirty-four", "my daughter is five"."""

import re
from typing import Final

from hotmem.text.numerals import ONES, TENS
from hotmem.types.parse import Token

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
