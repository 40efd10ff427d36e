"""Types of the arrays that data between the stages holds.

The other modules of this package import them for type checking only, so that `import hotmem`
does not load numpy.
"""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""An embedding: a unit row of the encoder's dimension."""

Vectors = NDArray[np.float32]
"""Embeddings, shape (texts, dimension), or token vectors, shape (tokens, width)."""

SignBits = NDArray[np.uint8]
"""Signs of a text's token vectors, one bit per dimension, shape (tokens, width / 8)."""
