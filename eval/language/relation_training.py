"""`python -m eval train-relations`: train the model of what a statement tells of a life.

On the statements of the reader's training batches, which three readers or their writers labelled;
those of the batches held out tell how good it is.
"""

import re
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.arguments import AsJson, Most, Out
from eval.arrays import save_arrays
from eval.files import some
from eval.output import print_figures, print_json
from eval.understanding import data
from hotmem.models.encoder import Vectors
from hotmem.models.encoders import OnnxEncoder
from hotmem.understanding.life_relations import CERTAIN, OTHER, RELATIONS

STEPS: Final = 400
RATE: Final = 0.05
DECAY: Final = 0.1
"""Steps of gradient descent (AdamW) over all statements, its rate and weight decay; by halves of
the training batches."""

TRAINING_PAIRS: Final = ("aa", "bb", "s", "u", "v")
HELD_OUT: Final = ("q", "r", "t")
"""Further batches."""

NAMES: Final = ("Ana", "Jo", "Mehmet", "Priya", "Tom", "Ines", "Oleg", "Grace", "Dieter", "Wanjiru")
"""Names of users in the place of "the user", by which a stored statement calls them."""


def train_relations(out: Out, limit: Most = None, as_json: AsJson = False) -> None:
    """Train the model of relations, and count errors by writers that it was not trained on."""
    encoder = OnnxEncoder.load()

    def told(batches: Iterable[str], *, named: bool = False) -> tuple[Vectors, NDArray[np.int64]]:
        rows = some(data.relations(batches), limit)
        if named:
            rows = [*rows, *((_named(text, at), told) for at, (text, told) in enumerate(rows))]
        places = [RELATIONS.index(relation) for _, relation in rows]
        return encoder.encode([text for text, _ in rows]), np.array(places)

    weights, bias = fit_softmax(*told((*data.TRAINING, *TRAINING_PAIRS), named=True))
    figures = {}
    for batch in (*data.HELD_OUT, *HELD_OUT):
        vectors, wanted = told([batch])
        scores = np.exp(vectors @ weights + bias)
        best = scores.argmax(axis=1)
        best[scores.max(axis=1) < CERTAIN * scores.sum(axis=1)] = RELATIONS.index(OTHER)
        figures[batch] = {
            "labelled": int((wanted > 0).sum()),
            "found": int(((best == wanted) & (wanted > 0)).sum()),
            "wrong": int(((best != wanted) & (best > 0)).sum()),
            "others": int((wanted == 0).sum()),
        }
    save_arrays(out, {"weights": weights.astype(np.float16), "bias": bias.astype(np.float16)})
    print_figures("by writers not trained on", figures)
    print_json(figures, as_json)


def _named(text: str, place: int) -> str:
    return re.sub(r"\b[Tt]he user\b", NAMES[place % len(NAMES)], text)


def fit_softmax(
    vectors: Vectors, labels: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit a softmax regression: weights (dimension, classes) and bias (classes,)."""
    import torch  # takes seconds

    torch.manual_seed(0)
    model = torch.nn.Linear(vectors.shape[1], len(RELATIONS))
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    rows, wanted = torch.from_numpy(vectors), torch.from_numpy(labels)
    for _ in range(STEPS):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(rows), wanted).backward()
        optimiser.step()
    return model.weight.detach().numpy().T, model.bias.detach().numpy()
