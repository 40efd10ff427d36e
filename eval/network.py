"""Train the network of relevance, which rescores what was said (`hotmem.ranking.relevance`)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax
from torch.optim.lr_scheduler import OneCycleLR

from eval.relevance import Sample
from hotmem.ranking.relevance import SAID, RelevanceModel, logit, network_inputs
from hotmem.understanding.term_model import Tensors

CANDIDATES: Final = 80
"""Candidates of a question that are trained on, the most relevant by the first stage."""

UNITS: Final = (64, 32)
"""Units of the hidden layers."""

DROPOUT: Final = (0.1, 0.2)
"""Share of the inputs, and of the units of the first hidden layer, left out in training."""

EPOCHS: Final = 20
QUESTIONS: Final = 32
"""Questions of a step."""

RATE: Final = 1e-3
DECAY: Final = 1e-2
"""Largest learning rate and weight decay of AdamW; the rate rises, then falls (one cycle)."""

POINTWISE: Final = 3.0
"""Weight of the pointwise loss, which calibrates, relative to the listwise one."""

SEED: Final = 7


class Lists(NamedTuple):
    """The candidates of some questions, the most relevant first, filled up with zeros.

    Attributes:
        inputs: float32 (questions, CANDIDATES, inputs).
        first: Logits of the first stage; float32 (questions, CANDIDATES).
        labels: 1 for evidence; likewise.
        filled: Whether there is a candidate; bool, likewise.
        weight: Weight of each question; float32 (questions,).
    """

    inputs: Tensor
    first: Tensor
    labels: Tensor
    filled: Tensor
    weight: Tensor


def trained(datasets: Mapping[str, Sequence[Sample]], model: RelevanceModel) -> Tensors:
    """Train on the conversations that are not held out.

    The weight of a dataset is the square root of its number of questions.

    Args:
        datasets: Samples by dataset.
        model: The first stage.
    """
    torch.manual_seed(SEED)
    lists = _lists(datasets, model)
    deviation, mean = torch.std_mean(lists.inputs[lists.filled], dim=0)
    inputs = (lists.inputs - mean) / deviation.clamp_(min=1e-6)
    sizes = (inputs.shape[-1], *UNITS, 1)
    linear = [nn.Linear(*pair) for pair in pairwise(sizes)]
    nn.init.zeros_(linear[-1].weight)
    network = nn.Sequential(
        nn.Dropout(DROPOUT[0]), linear[0], nn.ReLU(), nn.Dropout(DROPOUT[1]), linear[1], nn.ReLU(),
        linear[2],
    )  # fmt: skip
    share = nn.Parameter(torch.ones(1))
    optimiser = torch.optim.AdamW([*network.parameters(), share], lr=RATE, weight_decay=DECAY)
    schedule = OneCycleLR(optimiser, RATE, EPOCHS * -(-len(inputs) // QUESTIONS))
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(inputs)).split(QUESTIONS):
            logits = network(inputs[chosen]).squeeze(-1) + share * lists.first[chosen]
            optimiser.zero_grad()
            _loss(logits, lists, chosen).backward()
            optimiser.step()
            schedule.step()
    return _tensors(linear, share, mean, deviation)


def _loss(logits: Tensor, lists: Lists, chosen: Tensor) -> Tensor:
    """ListNet's top-one loss of questions with evidence, and the pointwise one of all."""
    labels, filled = lists.labels[chosen], lists.filled[chosen]
    shares = log_softmax(logits.masked_fill(~filled, -torch.inf), dim=1).masked_fill(~filled, 0)
    listwise = -(labels / labels.sum(dim=1, keepdim=True).clamp(min=1) * shares).sum(dim=1)
    pointwise = binary_cross_entropy_with_logits(logits, labels, reduction="none")
    each = (pointwise * filled).sum(dim=1) / filled.sum(dim=1)
    return ((listwise + POINTWISE * each) * lists.weight[chosen]).mean()


def _lists(datasets: Mapping[str, Sequence[Sample]], model: RelevanceModel) -> Lists:
    found = [
        (rows, len(samples) ** -0.5)
        for samples in datasets.values()
        for rows in _rows([one for one in samples if not one.held_out], model)
    ]
    inputs = torch.zeros(len(found), CANDIDATES, found[0][0][0].shape[1])
    first, labels, filled = torch.zeros(3, len(found), CANDIDATES)
    for at, ((features, logits, right), _) in enumerate(found):
        size = len(right)
        inputs[at, :size], first[at, :size] = torch.from_numpy(features), torch.from_numpy(logits)
        labels[at, :size], filled[at, :size] = torch.from_numpy(right), 1
    weight = torch.tensor([one for _, one in found])
    return Lists(inputs, first, labels, filled > 0, weight / weight.mean())


def _rows(
    samples: Sequence[Sample], model: RelevanceModel
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]]:
    """Inputs, logits of the first stage, and labels of each question with candidates."""
    for one in samples:
        relevances = model.probabilities(one.features, one.sources)
        said = np.array([source in SAID for source in one.sources], dtype=np.bool_)
        order = np.argsort(-np.where(said, relevances, -1), kind="stable")
        rows = order[: min(CANDIDATES, int(said.sum()))]
        if len(rows):
            inputs = network_inputs(one.features, one.sources, relevances)
            yield inputs[rows], logit(relevances[rows]), one.labels[rows].astype(np.float32)


def _tensors(
    linear: Sequence[nn.Linear], share: Tensor, mean: Tensor, deviation: Tensor
) -> Tensors:
    """The network as its file holds it; the inputs are scaled by the first layer's weights."""
    weights = [one.weight.detach().T for one in linear]
    biases = [one.bias.detach() for one in linear]
    scaled = weights[0] / deviation[:, None]
    weights[0], biases[0] = scaled, biases[0] - mean @ scaled
    named = {f"weights_{at}": one.contiguous().numpy() for at, one in enumerate(weights)}
    named |= {f"biases_{at}": one.numpy() for at, one in enumerate(biases)}
    return named | {"first": share.detach().numpy()}
