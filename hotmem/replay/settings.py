"""The settings that are compared.

HOTMEM_ variables with other values, other layer weights, other layers.
"""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.options import Options, RewriteOptions, parse_layer_weights
from hotmem.settings import PREFIX, Settings
from hotmem.types import START_WEIGHTS, Layer, Weights

COMPARABLE: Final = (
    "max_context_tokens",
    "max_facts",
    "multilayer_retrieval",
    "semantic_threshold",
    "verbatim_context_window",
    "mark_symbols",
    "encoder",
    "relevance_model",
)
"""Variables that change what a block holds."""

BUDGETS: Final = (250, 500, 1000, 2000)
THRESHOLD: Final = 0.1
"""What is compared where nothing is named: other budgets, and a threshold that leaves out more."""

NOW: Final = "as it is now"


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to set up a memory.

    Attributes:
        name: What it changes, as it was named: "HOTMEM_MAX_CONTEXT_TOKENS=500".
        options: The options that result.
        weights: The layer weights.
    """

    name: str
    options: Options
    weights: Weights

    @property
    def plain(self) -> str:
        """What it changes, in words for someone who does not know the variables.

        Their names where there are no such words.
        """
        return (
            ", ".join(map(_plain, shlex.split(self.name)))
            if self.name != NOW
            else "your present settings"
        )

    @property
    def advice(self) -> str:
        """How to have it: lines for a .env file, or what to do in Python."""
        return "\n".join(map(self._how, shlex.split(self.name)))

    def _how(self, change: str) -> str:
        if change.startswith("weights="):
            return f"{PREFIX}WEIGHTS={','.join(f'{weight:g}' for weight in self.weights.as_dict().values())}"
        if change.startswith("layers="):
            return f"# in Python: RecallOptions(layers=({', '.join(f'Layer.{layer.name}' for layer in self.options.recall.layers)},))"
        return change


PLAIN: Final = {
    "HOTMEM_MAX_CONTEXT_TOKENS": "at most {} tokens of text",
    "HOTMEM_MAX_FACTS": "no more facts than {}",
    "HOTMEM_SEMANTIC_THRESHOLD": "nothing of less than {} likeness",
    "HOTMEM_VERBATIM_CONTEXT_WINDOW": "{} characters around a quotation",
    "HOTMEM_ENCODER": "the encoder {}",
    "weights": "search weights {}",
    "layers": "searching {} only",
}
"""What changes do; `{}` is the value."""

PLAIN_CHANGES: Final = {
    "HOTMEM_MULTILAYER_RETRIEVAL=false": "searching facts only",
    "weights=start": "search weights as at the start",
    "weights=learned": "search weights as learnt",
}


def _plain(change: str) -> str:
    name, _, value = change.partition("=")
    return PLAIN_CHANGES.get(change) or PLAIN.get(name, change).format(value)


def settings(named: Iterable[str], learnt: Weights) -> list[Setting]:
    """The present settings, and those to compare with them.

    Args:
        named: Changes as `NAME=VALUE`, several in one string for a setting with several changes;
            none for the usual ones.
        learnt: The user's layer weights.

    Raises:
        InvalidInput: If a change cannot be used, naming it and what it may be.
    """
    options = Settings().options()
    now = Setting(NOW, _offline(options), options.learning.weights or learnt)
    others = [_changed(now, learnt, text) for text in named or _usual(now)]
    return [
        now,
        *{
            one.name: one
            for one in others
            if (one.options, one.weights) != (now.options, now.weights)
        }.values(),
    ]


def _usual(now: Setting) -> list[str]:
    names = [f"{PREFIX}MAX_CONTEXT_TOKENS={budget}" for budget in BUDGETS]
    names.append(f"{PREFIX}SEMANTIC_THRESHOLD={THRESHOLD}")
    names.append(
        f"{PREFIX}MULTILAYER_RETRIEVAL={'true' if now.options.recall.layers == (Layer.FACTS,) else 'false'}"
    )
    return [*names, "weights=start"]


def _changed(now: Setting, learnt: Weights, text: str) -> Setting:
    values: dict[str, Any] = {}
    weights, layers, names = now.weights, None, []
    for change in _parts(text):
        name, equals, value = change.partition("=")
        if not equals or not value:
            raise InvalidInput(
                f"{change!r} is no setting. Write NAME=VALUE, such as HOTMEM_MAX_CONTEXT_TOKENS=500."
            )
        match name.lower().removeprefix(PREFIX.lower()):
            case "weights":
                weights = _weights(value, learnt)
            case "layers":
                layers = _layers(value)
            case field if field in COMPARABLE:
                values[field], change = value, f"{PREFIX}{field.upper()}={shlex.quote(value)}"
            case _:
                known = ", ".join(
                    [*(f"{PREFIX}{field.upper()}" for field in COMPARABLE), "weights", "layers"]
                )
                raise InvalidInput(f"{name} cannot be compared. These can: {known}.")
        names.append(change)
    if not names:
        raise InvalidInput(
            "A setting is empty. Write NAME=VALUE, such as HOTMEM_MAX_CONTEXT_TOKENS=500."
        )
    options = _offline(Settings(**values).options())
    if layers is not None:
        options = replace(options, recall=replace(options.recall, layers=layers))
    return Setting(" ".join(names), options, weights)


def _parts(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} has a quotation mark without its other half. Write NAME=VALUE, with quotes around what holds spaces."
        ) from error


def _offline(options: Options) -> Options:
    """Without a language model that may be far away and costs money.

    Embeddings are timed as if each question were new.

    Layer weights are each setting's own.
    """
    learning, models = (
        replace(options.learning, weights=None),
        replace(options.models, embeddings_cached=0),
    )
    return replace(options, rewriting=RewriteOptions(), learning=learning, models=models)


def _weights(value: str, learnt: Weights) -> Weights:
    known = {"start": START_WEIGHTS, "learned": learnt}
    if value in known:
        return known[value]
    try:
        return parse_layer_weights(value)
    except InvalidInput as error:
        raise InvalidInput(
            f"weights cannot be {value!r}. {error} Or write start, or learned."
        ) from error


def _layers(value: str) -> tuple[Layer, ...]:
    chosen = value.split(",")
    if not set(chosen) <= set(Layer):
        raise InvalidInput(
            f"layers cannot be {value!r}. Write some of {', '.join(Layer)}, with commas between them."
        )
    return tuple(layer for layer in Layer if layer in chosen)
