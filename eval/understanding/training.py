"""Train the reader: one loss for parts, doubt, and whether anything is kept; one for effects.

A turn that changes one statement changes no other: at every stage some turns are paired with
statements that are not theirs, half of them near in meaning. Without them the reader hears what
turns sound like changes, but not of what.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from eval.arrays import load_arrays, save_arrays
from eval.understanding.data import HOLDS, LabelledPair, LabelledTurn
from eval.understanding.measure import HOLDING
from eval.understanding.model import Batch, ReaderNet
from eval.understanding.variation import (
    OPENINGS,
    opened,
    plain_pair,
    plain_turn,
    recognised_pair,
    recognised_turn,
)
from hotmem.models import Encoder
from hotmem.models.reader import DOUBTS, EFFECTS, KINDS

LARGEST_STEP: Final = 1.0
"""Maximum norm of a gradient."""

IGNORED: Final = -100
"""Label of tokens that a loss leaves out."""

NEAR: Final = 0.5
"""Share of the statements of others that are near to the turn."""

NEAREST: Final = 50
"""Statements that one is drawn from, by their cosine with the turn."""

FAR: Final = 0.4
"""Cosine below which two statements are certainly not of the same thing."""

SORTED: Final = 16
"""Batches are cut from this many times a batch, sorted by length."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Hyperparameters.

    Attributes:
        rank: Rank of the changes.
        epochs: Passes over the data.
        rate: Learning rate of the changes.
        head_rate: Learning rate of the heads.
        dropout: Share of the states that the heads do not see.
        plain: Share of the turns that say in plain words what is kept.
        plain_pairs: Share of the pairs whose turn says in plain words what is true afterwards.
        opened: Share of the turns that get an opening.
        lowered: Share of written turns that are given as a recogniser gives them.
        batch: Turns or pairs of a step.
        warm_up: Share of the steps in which the learning rate rises; it then falls to 0.
        seed: Of the start and the order.
    """

    rank: int = 32
    epochs: float = 6.0
    rate: float = 1.5e-3
    head_rate: float = 3e-3
    dropout: float = 0.1
    plain: float = 0.2
    plain_pairs: float = 0.08
    opened: float = 0.15
    lowered: float = 0.3
    batch: int = 24
    warm_up: float = 0.08
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Stage:
    """Changes of the hyperparameters for a stage of training.

    Attributes:
        epochs: Passes over the data, as a share of those of the settings.
        rate: Factor of the learning rates.
        crossed: Share of the pairs whose statement is taken from another pair, and so is unrelated,
            as most statements that a turn is compared with are.
        natural: Share of the steps with pairs whose pairs are from natural talks.
    """

    epochs: float
    rate: float
    crossed: float
    natural: float


STAGES: Final = (
    Stage(0.5, 1.0, 0.25, 0.1),
    Stage(0.5, 0.8, 0.25, 0.1),
    Stage(0.6, 0.5, 0.3, 0.4),
)
"""First what is hard, mostly the pairs as written, in two runs of the learning rate; then that in
natural talks hardly any turn changes what is known, however near it is."""


NATURAL_SHARE: Final = 0.8
"""Weight of the last stage's parameters in the mean with those before it, which keeps what the hard
pairs had taught (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models")."""


def trained(
    turns: Sequence[LabelledTurn],
    pairs: Sequence[LabelledPair],
    natural: Sequence[LabelledPair],
    encoder: Encoder,
    settings: Settings,
    tell: Callable[[int, int, float], None],
    unfinished: Path | None = None,
) -> ReaderNet:
    """Train a reader.

    Args:
        turns: Labelled turns.
        pairs: Labelled pairs.
        natural: Labelled pairs from natural talks.
        encoder: Says how near statements and turns are.
        settings: Hyperparameters.
        tell: Called after each step with its number, the number of steps, and the mean loss of the
            last hundred.
        unfinished: File that keeps a finished stage, from which a run that was stopped goes on with
            the same result; None to keep nothing.
    """
    torch.manual_seed(settings.seed)
    net = ReaderNet(settings.rank, settings.dropout)
    others = OtherStatements(pairs, natural, encoder)
    progress = _Progress(settings, len(turns) + len(pairs), tell)
    done = _restore(net, unfinished)
    for number, stage in enumerate(STAGES):
        if number < done:
            progress.skip(stage)
            continue
        before = [parameter.detach().clone() for parameter in net.trained()]
        torch.manual_seed(settings.seed + number)
        generator = np.random.default_rng((settings.seed, number))
        _train(net, turns, pairs, natural, others, settings, stage, generator, progress)
        if unfinished is not None:
            _keep(net, number + 1, unfinished)
    with torch.no_grad():
        for parameter, earlier in zip(net.trained(), before, strict=True):
            parameter.lerp_(earlier, 1 - NATURAL_SHARE)
    net.eval()
    return net


def _keep(net: ReaderNet, stages: int, file: Path) -> None:
    """Write what is trained after some stages."""
    arrays = {str(at): one.detach().numpy() for at, one in enumerate(net.trained())}
    save_arrays(file, arrays | {"stages": np.array(stages)})


def _restore(net: ReaderNet, file: Path | None) -> int:
    """Read what was trained, but for the last stage; returns the number of stages."""
    if file is None or not file.exists():
        return 0
    arrays = load_arrays(file)
    if int(arrays["stages"]) >= len(STAGES):
        return 0
    with torch.no_grad():
        for at, parameter in enumerate(net.trained()):
            parameter.copy_(torch.from_numpy(arrays[str(at)]))
    return int(arrays["stages"])


def _train(
    net: ReaderNet,
    turns: Sequence[LabelledTurn],
    pairs: Sequence[LabelledPair],
    natural: Sequence[LabelledPair],
    others: "OtherStatements",
    settings: Settings,
    stage: Stage,
    generator: np.random.Generator,
    progress: "_Progress",
) -> None:
    """Train a net for one stage."""
    net.train_heads()
    changed, heads = net.changed(), list(net.heads.parameters())
    optimiser = torch.optim.AdamW(
        [
            {"params": changed, "lr": settings.rate * stage.rate},
            {"params": heads, "lr": settings.head_rate * stage.rate},
        ],
        weight_decay=0.01,
    )
    steps = progress.steps(stage)
    warm = max(1, round(settings.warm_up * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.0, 1 - step / steps))
    )
    turn_batches = _Drawn(len(turns), [len(one.text) for one in turns], settings.batch, generator)
    pair_batches = _Drawn(len(pairs), [len(one.new) for one in pairs], settings.batch, generator)
    natural_batches = _Drawn(
        len(natural), [len(one.new) for one in natural], settings.batch, generator
    )
    share = len(turns) / (len(turns) + len(pairs))
    for _ in range(steps):
        optimiser.zero_grad()
        if generator.random() < share:
            turn_batch = [
                _varied_turn(turns[at], settings, generator) for at in turn_batches.next()
            ]
            draw = partial(reading_loss, net, turn_batch)
        elif generator.random() < stage.natural:
            draw = partial(effect_loss, net, [natural[at] for at in natural_batches.next()])
        else:
            pair_batch = [
                _varied_pair(pairs[at], settings, generator) for at in pair_batches.next()
            ]
            pair_batch = crossed(pair_batch, others, stage.crossed, generator)
            draw = partial(effect_loss, net, pair_batch)
        with torch.autocast("cpu", torch.bfloat16):
            loss = draw()
        loss.backward()  # type: ignore[no-untyped-call]  # torch has no types for it
        torch.nn.utils.clip_grad_norm_([*changed, *heads], LARGEST_STEP)
        optimiser.step()
        schedule.step()
        progress.step(float(loss.detach()))


class _Progress:
    """Counts the steps of all stages."""

    def __init__(
        self, settings: Settings, cases: int, tell: Callable[[int, int, float], None]
    ) -> None:
        self._per_epoch = settings.epochs * cases / settings.batch
        self._tell = tell
        self._losses: list[float] = []

    def steps(self, stage: Stage) -> int:
        """Return the steps of a stage."""
        return max(1, round(stage.epochs * self._per_epoch))

    def skip(self, stage: Stage) -> None:
        """Count a stage that was trained before."""
        self._losses += [float("nan")] * self.steps(stage)

    def step(self, loss: float) -> None:
        """Count a step."""
        self._losses.append(loss)
        steps = sum(map(self.steps, STAGES))
        self._tell(len(self._losses), steps, float(np.nanmean(self._losses[-100:])))


def _varied_turn(
    turn: LabelledTurn, settings: Settings, generator: np.random.Generator
) -> LabelledTurn:
    """Return a turn, perhaps plainer, with an opening, or as a recogniser gives it."""
    if turn.parts and generator.random() < settings.plain:
        turn = plain_turn(turn, turn.parts[int(generator.integers(len(turn.parts)))])
    if generator.random() < settings.opened:
        turn = opened(turn, str(generator.choice(OPENINGS)))
    return recognised_turn(turn) if generator.random() < settings.lowered else turn


def _varied_pair(
    pair: LabelledPair, settings: Settings, generator: np.random.Generator
) -> LabelledPair:
    """Return a pair, perhaps with a plainer turn, or as a recogniser gives it."""
    if pair.result and generator.random() < settings.plain_pairs:
        pair = plain_pair(pair)
    return recognised_pair(pair) if generator.random() < settings.lowered else pair


def reading_loss(net: ReaderNet, turns: Sequence[LabelledTurn]) -> Tensor:
    """Return the loss of parts, doubts, and whether anything is kept."""
    batch = Batch.of(net.tokens([(one.before, one.text) for one in turns]))
    states = net.states(batch)
    part_scores, doubt_scores = net.parts(states)
    kinds, doubts = labels(turns, batch)
    kept = torch.tensor([float(bool(one.parts)) for one in turns])
    loss = cross_entropy(part_scores.flatten(0, 1), kinds.flatten(), ignore_index=IGNORED)
    loss = loss + binary_cross_entropy_with_logits(net.kept(states, batch), kept)
    if (doubts != IGNORED).any():
        loss = loss + 0.5 * cross_entropy(
            doubt_scores.flatten(0, 1), doubts.flatten(), ignore_index=IGNORED
        )
    return loss


class OtherStatements:
    """Statements that a turn of the data is not about.

    Args:
        pairs: The pairs that are trained on.
        natural: Those from natural talks, for their statements.
        encoder: Says how near statements and turns are.
    """

    def __init__(
        self, pairs: Sequence[LabelledPair], natural: Sequence[LabelledPair], encoder: Encoder
    ) -> None:
        self._statements = list(dict.fromkeys(one.known for one in (*pairs, *natural)))
        self._rows = {text: row for row, text in enumerate(self._statements)}
        self._vectors = encoder.encode(self._statements)
        self._encode = cache(lambda text: encoder.encode([text])[0])

    def draw(self, pair: LabelledPair, generator: np.random.Generator) -> str:
        """Return any statement, or one of the nearest to a turn, that is far from its own.

        What a turn is about is only known where it is not unrelated to its own statement.
        """
        own = self._vectors @ self._vectors[self._rows[pair.known]]
        if pair.effect != "unrelated" and generator.random() < NEAR:
            order = np.argsort(-(self._vectors @ self._encode(pair.new)))[:NEAREST]
        else:
            order = generator.integers(len(self._statements), size=NEAREST)
        far = order[own[order] < FAR]
        return self._statements[int(generator.choice(far))] if len(far) else pair.known


def crossed(
    chosen: Sequence[LabelledPair],
    others: OtherStatements,
    share: float,
    generator: np.random.Generator,
) -> list[LabelledPair]:
    """Return the pairs, some of them with the statement of another one, which is unrelated."""
    found = list(chosen)
    for place in np.flatnonzero(generator.random(len(chosen)) < share).tolist():
        known = others.draw(chosen[place], generator)
        if known != chosen[place].known:
            found[place] = replace(chosen[place], known=known, effect="unrelated", result="")
    return found


def effect_loss(net: ReaderNet, pairs: Sequence[LabelledPair]) -> Tensor:
    """Return the loss of the effects of pairs."""
    batch = Batch.of(net.tokens([(one.known, one.new) for one in pairs]))
    scores = net.effect(net.states(batch), batch).float()
    wanted = torch.tensor([_allowed(one.effect) for one in pairs])
    allowed = scores.masked_fill(~wanted, -torch.inf)
    return (scores.logsumexp(dim=1) - allowed.logsumexp(dim=1)).mean()


def _allowed(effect: str) -> list[bool]:
    """Which of the effects are right."""
    right = HOLDING if effect == HOLDS else (effect,)
    return [one in right for one in EFFECTS]


def labels(turns: Sequence[LabelledTurn], batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the kind (0 for nothing) and the doubt of each token of the second texts."""
    kinds = torch.full(batch.there.shape, IGNORED)
    doubts = torch.full(batch.there.shape, IGNORED)
    for row, (turn, tokens) in enumerate(zip(turns, batch.pairs, strict=True)):
        for place, (start, stop) in tokens.second:
            part = next((one for one in turn.parts if one.start < stop and start < one.stop), None)
            kinds[row, place] = 0 if part is None else 1 + KINDS.index(part.kind)
            if part is not None:
                doubts[row, place] = DOUBTS.index(part.doubt)
    return kinds, doubts


class _Drawn:
    """Batches of similar length in random order, without end."""

    def __init__(
        self, count: int, lengths: Sequence[int], size: int, generator: np.random.Generator
    ) -> None:
        self._count, self._lengths, self._size = count, np.array(lengths), size
        self._generator = generator
        self._waiting: list[list[int]] = []

    def next(self) -> list[int]:
        """Return the indices of the next batch."""
        if not self._waiting:
            order = self._generator.permutation(self._count)
            wide = self._size * SORTED
            for start in range(0, self._count, wide):
                pool = order[start : start + wide]
                pool = pool[np.argsort(self._lengths[pool], kind="stable")]
                self._waiting += [
                    pool[at : at + self._size].tolist() for at in range(0, len(pool), self._size)
                ]
            self._generator.shuffle(self._waiting)
        return self._waiting.pop()
