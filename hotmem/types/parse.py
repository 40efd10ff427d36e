"""spaCy's types of a parse, for annotations alone.

spaCy takes a second to load. It is loaded together with its model, by `hotmem.models.language`, and
not to name a type.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token
else:
    Doc = Span = Token = Any

__all__ = ["Doc", "Span", "Token"]
