"""spaCy's parse types, for annotations only.

Importing spaCy is slow, so only `hotmem.models.language` does it, together with the model.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token
else:
    Doc = Span = Token = Any

__all__ = ["Doc", "Span", "Token"]
