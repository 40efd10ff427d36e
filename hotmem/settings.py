"""Settings from HOTMEM_ environment variables.

Precedence, highest first: argument, environment variable, line of .env (programs only), default.

`Settings()` is for programs (the `hotmem` command, the bots in pipelines/); it also reads the file
.env in the working directory. `Settings.from_environment()` is for the library: it reads the
environment but no file, and fills the options of a memory that is opened without options.

What few deployments change has no variable: set it in code, in `hotmem.options.Options`.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import cache
from math import inf
from pathlib import Path
from typing import Annotated, Any, Final, Self
from zoneinfo import ZoneInfo

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, PlainValidator, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from hotmem.core.location import Location, locate
from hotmem.core.logs import log
from hotmem.core.validation import BOUNDS
from hotmem.errors import InvalidInput
from hotmem.options import (
    BackgroundMode,
    ExtractionOptions,
    Options,
    RetentionRule,
    RewriteOptions,
    load_retention_rules,
)
from hotmem.text.languages import checked_language
from hotmem.types import Layer

DEFAULTS: Final = Options()

PREFIX: Final = "HOTMEM_"

ENV_FILE: Final = Path(".env")

PIPELINE_VARIABLES: Final = ("LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY")
"""Variables read by the bots in pipelines/ but not by the package."""

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


class Variables(BaseSettings):
    """Settings that report validation errors as `InvalidInput` in one line.

    Raises:
        InvalidInput: If an argument is unknown, or a value or the file .env is invalid; the
            message names it.
    """

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - any field's
        _check_names(type(self).model_fields, values)
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InvalidInput(" ".join(map(self._describe_error, error.errors()))) from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{ENV_FILE.absolute()} is not UTF-8. Save it as UTF-8.") from error
        except OSError as error:
            raise InvalidInput(
                f"{ENV_FILE.absolute()} cannot be read ({type(error).__name__}). "
                "Make it readable, or move it away."
            ) from error

    def _describe_error(self, error: Any) -> str:  # noqa: ANN401 - pydantic's own dictionary
        """What is wrong, and what may be set; a value that may be secret is left out."""
        prefix = str(self.model_config.get("env_prefix", ""))
        path = "__".join(map(str, error["loc"])).upper().removeprefix(prefix)
        field = type(self).model_fields.get(path.partition("__")[0].lower())
        value = repr(error["input"]) if field is None or field.repr else "used"
        message = error["msg"].removeprefix("Value error, ").removesuffix(".")
        return f"{prefix}{path} cannot be {value}. {message}."


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
        env_nested_delimiter="__",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )

    database: MemoryLocation = Path("memory.db")
    """The memory file, or the URL of a PostgreSQL database."""
    key: str = Field(default="", repr=False)
    """Passphrase of an encrypted memory file; empty: HOTMEM_KEY_FILE, or a plain file. A new file
    is encrypted with it; `hotmem encrypt` encrypts an existing one."""
    key_file: Path | None = None
    """File whose first line is the passphrase."""
    spool_dir: Path | None = None
    """Folder that holds turns while the memory file cannot be written, preferably on another disk;
    empty: beside the file."""
    multilayer_retrieval: bool = True
    """Search all four layers; false: only the facts layer."""
    max_context_tokens: int = option("recall.max_tokens")
    """Maximum tokens of a context block."""
    opening_tokens: int = option("recall.opening_tokens")
    """Maximum tokens of what is given without a question: at the start of a session, and standing
    instructions later; 0 disables it."""
    recall_deadline_ms: float = Field(default=150.0, ge=0)
    """Maximum milliseconds that a bot waits for its memory."""
    semantic_threshold: float = option("recall.semantic_threshold")
    """Minimum relevance, 0 to 1, of an item of a block; 0 disables the filter."""
    verbatim_context_window: int = option("recall.verbatim_window")
    """Characters of the turn shown on each side of a passage, 0 to 1000."""
    adaptive_learning: bool = option("learning.adaptive")
    """Adapt the layer weights to what replies use."""
    usage_analytics: bool = option("learning.analytics")
    """Record in the memory file what replies use."""
    time_zone: ZoneInfo | None = None
    """Time zone of the user, such as Europe/Berlin; empty: that of this machine."""
    language: Annotated[str, AfterValidator(checked_language)] | None = None
    """Language that is mostly spoken, such as de; empty: the language of the memory, or English for
    a new one."""
    background: BackgroundMode = option("background.mode")
    """Where background jobs run: here, elsewhere (`hotmem worker`) or off."""
    forget_grace_hours: float = Field(default=DEFAULTS.forgetting.grace_s / 3600, ge=0)
    """Hours during which a deletion by voice can be undone; 0: final at once."""
    audit: bool = option("audit.on")
    """Log who reads, changes, exports or deletes memories, for `hotmem audit`."""
    audit_days: int = option("audit.days")
    """Days after which entries of the audit log are deleted."""
    retention_days: int | None = Field(default=None, ge=1)
    """Days after which everything that was said is forgotten; empty: never."""
    retention_file: Path | None = None
    """JSON file with more retention rules, by category and user, such as [{"days": 90, "category":
    "projects"}, {"days": 30, "user_id": "ana"}]. `hotmem retain --dry-run` lists what would be
    deleted."""
    encoder: str = option("models.encoder")
    """'default' (all-MiniLM-L6-v2 trained on conversations), a file (.onnx) from `python -m eval
    encoder export`, or a sentence-transformers model by name or folder (an extra)."""
    rewriting: RewriteOptions | None = Field(default=None, repr=False)
    """Language model that rewrites questions like 'And his?', such as {"model": "gpt-4.1-mini",
    "api_key": "…"}, or HOTMEM_REWRITING__MODEL and so on; empty: rules do it."""
    extraction: ExtractionOptions | None = Field(default=None, repr=False)
    """Language model that extracts facts in the background, besides the reader, such as {"model":
    "gpt-4.1-mini", "base_url": "…", "api_key": "…"}, or HOTMEM_EXTRACTION__MODEL and so on. What is
    said then leaves this machine: conversations from then on are sent to its endpoint; turns off
    the record, forgotten and imported ones are not. Empty: nothing is sent."""
    mcp_token: str = Field(default="", repr=False)
    """Bearer token of `hotmem serve-mcp --http`, 20 characters or more; empty: a new one for each
    run."""

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - any field's
        super().__init__(**values)
        file = values.get("_env_file", ENV_FILE)
        warn_about_unknown([*os.environ, *(() if file is None else dotenv_values(file))])

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
            rewriting=self.rewriting or DEFAULTS.rewriting,
            extraction=self.extraction or DEFAULTS.extraction,
            retention=self._retention(),
            time_zone=self.time_zone,
            key=self.key or self.key_file,
            spool_dir=self.spool_dir,
            language=self.language,
        )


NESTED: Final = tuple(
    f"{stage}__{one.name}".upper()
    for stage in ("rewriting", "extraction")
    for one in fields(getattr(DEFAULTS, stage))
)
"""Variables for a single option of a stage whose setting is JSON of its options."""

VARIABLES: Final = (*map(str.upper, Settings.model_fields), *NESTED, *PIPELINE_VARIABLES)
"""Names of all variables, without their prefix."""


def warn_about_unknown(names: Iterable[str]) -> None:
    """Warn once about each variable with our prefix that is unknown, with a suggestion.

    Not an error: container platforms set variables of their own, such as HOTMEM_PORT for a
    service named hotmem.
    """
    for name in names:
        own = name.upper().removeprefix(PREFIX)
        if name.upper().startswith(PREFIX) and own not in VARIABLES:
            close = get_close_matches(own, VARIABLES, 1)
            warn_once(name, f"{PREFIX}{close[0]}" if close else None)


@cache
def warn_once(name: str, suggestion: str | None) -> None:
    """Warn about an unknown variable."""
    log.warning(
        f"{name} is not a setting and has no effect."
        + (f" Did you mean {suggestion}?" if suggestion else "")
    )


def _check_names(fields: Collection[str], given: Iterable[str]) -> None:
    """Check that arguments are fields; names of pydantic's own arguments begin with "_".

    Raises:
        InvalidInput: If one is not; the message suggests the closest field.
    """
    for name in given:
        if name not in fields and not name.startswith("_"):
            close = get_close_matches(name.lower().removeprefix("hotmem_"), fields, 1)
            suggestion = f"Did you mean {close[0]}?" if close else f"Use {', '.join(fields)}."
            raise InvalidInput(f"{name} is not a setting. {suggestion}")
