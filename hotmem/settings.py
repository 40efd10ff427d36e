"""Settings from HOTMEM_ environment variables.

Precedence, highest first: argument, environment variable, line of .env (programs only), default.

`Settings()` is for programs (the `hotmem` command, the bots in pipelines/); it also reads the file
.env in the working directory. `Settings.from_environment()` is for the library: it reads the
environment but no file, and fills the options of a memory that is opened without options.
"""

import os
from collections import defaultdict
from dataclasses import fields, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any, Final, Self
from zoneinfo import ZoneInfo

from dotenv import dotenv_values
from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator
from pydantic_settings import NoDecode, SettingsConfigDict

from hotmem.core.location import Location, locate
from hotmem.core.validation import BOUNDS
from hotmem.core.variables import ENV_FILE, Variables, warn_about_unknown
from hotmem.errors import InvalidInput
from hotmem.options import (
    BackgroundMode,
    Options,
    RetentionRule,
    load_retention_rules,
    parse_layer_weights,
)
from hotmem.text.languages import checked_language
from hotmem.types import Layer, Weights

DEFAULTS: Final = Options()

PREFIX: Final = "HOTMEM_"

PIPELINE_VARIABLES: Final = ("HOTMEM_LLM_BASE_URL", "HOTMEM_LLM_MODEL", "HOTMEM_LLM_API_KEY")
"""Variables read by the bots in pipelines/ but not by the package."""

LayerWeights = Annotated[
    Weights | None,
    NoDecode,
    BeforeValidator(lambda value: parse_layer_weights(value) if isinstance(value, str) else value),
]
"""Layer weights as comma-separated numbers."""


MemoryLocation = Annotated[Location, PlainValidator(locate)]
"""A path, or a URL."""


def option(name: str) -> Any:  # noqa: ANN401 - as `pydantic.Field`
    """Declare a setting that is an option of a stage, with its default and its bounds.

    Args:
        name: Stage and name of the option, such as "recall.max_tokens".
    """
    stage, _, own = name.partition(".")
    options = getattr(DEFAULTS, stage)
    declared = {one.name: one for one in fields(options)}[own]
    least, most, _ = declared.metadata.get(BOUNDS, (None, inf, False))
    return Field(
        default=getattr(options, own),
        ge=least,
        le=None if most == inf else most,
        repr=declared.repr,
        json_schema_extra={"option": name},
    )


class Settings(Variables):
    """All settings; every variable has the prefix HOTMEM_.

    An unknown variable with this prefix causes a warning that suggests the closest setting.

    Args:
        values: Settings by name; they take precedence over the environment and the file.

    Raises:
        InvalidInput: If a value or the file .env is invalid; the message names it.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        extra="ignore",
        env_ignore_empty=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )

    database: MemoryLocation = Path("memory.db")
    """The memory file, or the URL of a PostgreSQL database."""
    key: str = Field(default="", repr=False)
    """Passphrase of an encrypted memory file; empty: HOTMEM_KEY_FILE, or a plain file."""
    key_file: Path | None = None
    """File whose first line is the passphrase."""
    spool_dir: Path | None = None
    """Folder that holds turns while the memory file cannot be written; empty: beside the file."""
    multilayer_retrieval: bool = True
    """Search all four layers; false: only the facts layer."""
    max_context_tokens: int = option("recall.max_tokens")
    """Maximum tokens of a context block."""
    opening_tokens: int = option("recall.opening_tokens")
    """Maximum tokens of the opening block of a session; 0 disables it."""
    say_unknown: bool = option("recall.say_unknown")
    """Tell the model if nothing is known about a question or the names in it."""
    recall_deadline_ms: float = Field(default=150.0, ge=0)
    """Maximum milliseconds that a bot waits for its memory."""
    semantic_threshold: float = option("recall.semantic_threshold")
    """Minimum relevance, 0 to 1, of an item of a block; 0 disables the filter."""
    verbatim_context_window: int = option("recall.verbatim_window")
    """Characters of the turn shown on each side of a passage, 0 to 1000."""
    mark_symbols: bool = option("recall.symbols")
    """Show confidence marks as coloured circles instead of words."""
    adaptive_learning: bool = option("learning.adaptive")
    """Adapt the layer weights to what replies use."""
    usage_analytics: bool = option("learning.analytics")
    """Record in the memory file what replies use."""
    weights: LayerWeights = option("learning.weights")
    """Fixed layer weights for all users, such as 1,0.8,0.6,0.4; empty: the shipped weights, or
    learned ones."""
    time_zone: ZoneInfo | None = None
    """Time zone of the user, such as Europe/Berlin; empty: that of this machine."""
    language: Annotated[str, AfterValidator(checked_language)] | None = None
    """Language that is mostly spoken, such as de; empty: the language of the memory, or English for
    a new one."""
    background: BackgroundMode = option("background.mode")
    """Where background jobs run: here, elsewhere (`hotmem worker`) or off."""
    session_idle_s: float = option("background.idle_s")
    """Seconds of silence after which a session is summarised."""
    evolution: bool = option("evolution.on")
    """Build subcategories of the categories in the background."""
    forget_grace_hours: float = Field(default=DEFAULTS.forgetting.grace_s / 3600, ge=0)
    """Hours during which a deletion by voice can be undone; 0: final at once."""
    audit: bool = option("audit.on")
    """Log who reads, changes, exports or deletes memories, for `hotmem audit`."""
    audit_days: int = option("audit.days")
    """Days after which entries of the audit log are deleted."""
    retention_days: int | None = Field(default=None, ge=1)
    """Days after which everything that was said is forgotten; empty: never."""
    retention_file: Path | None = None
    """JSON file with more retention rules, by category and user."""
    encoder: str = option("models.encoder")
    """'default', a file (.onnx), or a sentence-transformers model by name or folder."""
    gc_freeze: bool = option("models.gc_freeze")
    """Exclude the loaded models from garbage collection, in a process that runs only a bot."""
    rewrite_model: str = option("rewriting.model")
    """Language model that rewrites questions like 'And his?'; empty: rules do it."""
    rewrite_base_url: str | None = option("rewriting.base_url")
    """Endpoint of the rewriting model, OpenAI-compatible."""
    rewrite_api_key: str = option("rewriting.api_key")
    """API key of the rewriting model, if needed."""
    rewrite_deadline_ms: float = option("rewriting.deadline_ms")
    """Deadline of a rewrite in milliseconds."""
    extraction_model: str = option("extraction.model")
    """Language model that extracts facts in the background; conversations are then sent to its
    endpoint and leave this machine. Empty: nothing is sent."""
    extraction_base_url: str | None = option("extraction.base_url")
    """Endpoint of that model, OpenAI-compatible; empty: OpenAI's own."""
    extraction_api_key: str = option("extraction.api_key")
    """API key of that model, if needed."""
    extraction_every_turns: int = option("extraction.every_turns")
    """User turns after which a conversation is sent; 0: once, when it has ended."""
    extraction_daily_tokens: int = option("extraction.daily_tokens")
    """Maximum tokens a day, sent and received."""
    extraction_topics: bool = option("extraction.topics")
    """Let that model also name new subcategories; up to eight statements of each, imported ones
    included, are then sent."""
    extraction_summaries: bool = option("extraction.summaries")
    """Let that model also write the summary of a conversation that has ended; each is then sent
    once more."""
    mcp_token: str = Field(default="", repr=False)
    """Bearer token of `hotmem serve-mcp --http`; empty: a new one for each run."""
    relevance_model: Path | None = option("models.relevance")
    """Coefficients from `python -m eval train`; empty: the built-in models."""

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - any field's
        super().__init__(**values)
        file = values.get("_env_file", ENV_FILE)
        names = [*os.environ, *(() if file is None else dotenv_values(file))]
        known = (f"{PREFIX}{name.upper()}" for name in type(self).model_fields)
        warn_about_unknown(PREFIX, (*known, *PIPELINE_VARIABLES), names)

    @classmethod
    def from_environment(cls, **values: Any) -> Self:  # noqa: ANN401 - any field's
        """Return the settings without reading the file .env, for the library.

        Args:
            values: Settings by name; they take precedence over the environment.
        """
        return cls(_env_file=None, **values)

    def _retention(self) -> tuple[RetentionRule, ...]:
        every = () if self.retention_days is None else (RetentionRule(self.retention_days),)
        return (
            *every,
            *(() if self.retention_file is None else load_retention_rules(self.retention_file)),
        )

    def options(self) -> Options:
        """Return the settings as options of the package.

        Raises:
            InvalidInput: If the key is given twice.
        """
        if self.key and self.key_file:
            raise InvalidInput("HOTMEM_KEY and HOTMEM_KEY_FILE are both set. Set only one.")
        stages: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for name, field in type(self).model_fields.items():
            if isinstance(field.json_schema_extra, dict):
                stage, _, own = str(field.json_schema_extra["option"]).partition(".")
                stages[stage][own] = getattr(self, name)
        stages["recall"]["layers"] = tuple(Layer) if self.multilayer_retrieval else (Layer.FACTS,)
        stages["forgetting"]["grace_s"] = self.forget_grace_hours * 3600
        return Options(
            **{stage: replace(getattr(DEFAULTS, stage), **own) for stage, own in stages.items()},
            retention=self._retention(),
            time_zone=self.time_zone,
            key=self.key or self.key_file,
            spool_dir=self.spool_dir,
            language=self.language,
        )
