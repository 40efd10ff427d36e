"""Settings to compare: values of HOTMEM_ variables, layer weights and layers."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.options import Options, RewriteOptions, check_weights
from hotmem.settings import PREFIX, Settings
from hotmem.types import MAX_WEIGHT, MIN_WEIGHT, START_WEIGHTS, Layer, Weights

COMPARABLE: Final = (
    "max_context_tokens",
    "multilayer_retrieval",
    "semantic_threshold",
    "verbatim_context_window",
    "encoder",
)
"""Settings that affect the content of a block."""

BUDGETS: Final = (250, 500, 1000, 2000)
THRESHOLD: Final = 0.1
"""Default budgets and threshold to compare."""

NOW: Final = "as it is now"


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to set up a memory.

    Attributes:
        name: Changed variables, such as "HOTMEM_MAX_CONTEXT_TOKENS=500".
        options: Resulting options.
        weights: Layer weights.
    """

    name: str
    options: Options
    weights: Weights

    @property
    def plain(self) -> str:
        """Description of the changes; names of variables without a description."""
        if self.name == NOW:
            return "your present settings"
        return ", ".join(map(_describe, shlex.split(self.name)))

    @property
    def advice(self) -> str:
        """Lines for a .env file, or Python code, that apply the setting."""
        return "\n".join(map(self._advice_for, shlex.split(self.name)))

    def _advice_for(self, change: str) -> str:
        if change.startswith("weights="):
            values = ", ".join(f"{weight:g}" for weight in self.weights.as_dict().values())
            return f"# in Python: LearningOptions(weights=Weights({values}))"
        if change.startswith("layers="):
            layers = ", ".join(f"Layer.{layer.name}" for layer in self.options.recall.layers)
            return f"# in Python: RecallOptions(layers=({layers},))"
        return change


DESCRIPTIONS: Final = {
    "HOTMEM_MAX_CONTEXT_TOKENS": "at most {} tokens of text",
    "HOTMEM_SEMANTIC_THRESHOLD": "minimum relevance {}",
    "HOTMEM_VERBATIM_CONTEXT_WINDOW": "{} characters around a passage",
    "HOTMEM_ENCODER": "encoder {}",
    "weights": "layer weights {}",
    "layers": "only layers {}",
}
"""Descriptions of changes; `{}` is the value."""

DESCRIPTIONS_OF_VALUES: Final = {
    "HOTMEM_MULTILAYER_RETRIEVAL=false": "only the facts layer",
    "weights=start": "initial layer weights",
    "weights=learned": "learned layer weights",
}


def _describe(change: str) -> str:
    name, _, value = change.partition("=")
    return DESCRIPTIONS_OF_VALUES.get(change) or DESCRIPTIONS.get(name, change).format(value)


def settings(named: Iterable[str], learned: Weights) -> list[Setting]:
    """Return the present settings and those to compare with them.

    Args:
        named: Changes as `NAME=VALUE`, several in one string for a setting with several changes;
            empty for the default comparison.
        learned: Layer weights of the user.

    Raises:
        InvalidInput: If a change is invalid; the message names it.
    """
    options = Settings().options()
    now = Setting(NOW, _offline(options), learned)
    others = [_changed(now, learned, text) for text in named or _defaults(now)]
    return [
        now,
        *{
            one.name: one
            for one in others
            if (one.options, one.weights) != (now.options, now.weights)
        }.values(),
    ]


def _defaults(now: Setting) -> list[str]:
    names = [f"{PREFIX}MAX_CONTEXT_TOKENS={budget}" for budget in BUDGETS]
    names.append(f"{PREFIX}SEMANTIC_THRESHOLD={THRESHOLD}")
    facts_only = now.options.recall.layers == (Layer.FACTS,)
    names.append(f"{PREFIX}MULTILAYER_RETRIEVAL={'true' if facts_only else 'false'}")
    return [*names, "weights=start"]


def _changed(now: Setting, learned: Weights, text: str) -> Setting:
    values: dict[str, Any] = {}
    weights, layers, names = now.weights, None, []
    for change in _parts(text):
        name, equals, value = change.partition("=")
        if not equals or not value:
            raise InvalidInput(
                f"{change!r} is not a setting. "
                "Write NAME=VALUE, such as HOTMEM_MAX_CONTEXT_TOKENS=500."
            )
        match name.lower().removeprefix(PREFIX.lower()):
            case "weights":
                weights = _weights(value, learned)
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
            f"{text!r} has an unmatched quotation mark. "
            "Write NAME=VALUE, with quotes around values with spaces."
        ) from error


def _offline(options: Options) -> Options:
    """Return the options without a remote rewriting model and embedding cache.

    Without the cache, the latency includes the embedding of each question.
    """
    models = replace(options.models, embeddings_cached=0)
    return replace(options, rewriting=RewriteOptions(), models=models)


def _weights(value: str, learned: Weights) -> Weights:
    known = {"start": START_WEIGHTS, "learned": learned}
    if value in known:
        return known[value]
    try:
        numbers = [float(number) for number in value.split(",")]
        return check_weights(Weights.from_dict(dict(zip(Layer, numbers, strict=True))))
    except ValueError as error:
        usage = f"{','.join(Layer)} as numbers from {MIN_WEIGHT} to {MAX_WEIGHT}: 1,0.8,0.6,0.4"
        raise InvalidInput(
            f"weights cannot be {value!r}. {value!r} are not layer weights. Write {usage}. "
            "Or write start, or learned."
        ) from error


def _layers(value: str) -> tuple[Layer, ...]:
    chosen = value.split(",")
    if not set(chosen) <= set(Layer):
        raise InvalidInput(
            f"layers cannot be {value!r}. Write one or more of {', '.join(Layer)}, comma-separated."
        )
    return tuple(layer for layer in Layer if layer in chosen)
