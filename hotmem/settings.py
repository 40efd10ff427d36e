"""Settings from HOTMEM_ variables.

    an argument ─▶ a HOTMEM_ variable of the environment ─▶ a line of .env (programs only) ─▶ the default

`Settings()` is for programs (the `hotmem` command, the bots in pipelines/): it also reads the file
.env of the working directory. `Settings.of_environment()` is for the library: a memory that is
opened without options takes them from there, and no file.
"""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Self
from zoneinfo import ZoneInfo

from dotenv import dotenv_values
from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from hotmem.core.logs import log
from hotmem.errors import InvalidInput
from hotmem.options import (
    AuditOptions,
    BackgroundOptions,
    EvolutionOptions,
    ForgettingOptions,
    LearningOptions,
    ModelOptions,
    Options,
    RecallOptions,
    RetentionRule,
    RewriteOptions,
    SearchingOptions,
    weights_of,
)
from hotmem.retention_rules import rules_of
from hotmem.types import Layer, Weights

DEFAULTS: Final = Options()

PREFIX: Final = "HOTMEM_"

OF_THE_BOTS: Final = ("HOTMEM_LLM_BASE_URL", "HOTMEM_LLM_MODEL", "HOTMEM_LLM_API_KEY")
"""Variables that the bots in pipelines/ read, and the package does not."""

ENV_FILE: Final = Path(".env")

Numbers = Annotated[
    Weights | None,
    NoDecode,
    BeforeValidator(lambda value: weights_of(value) if isinstance(value, str) else value),
]
"""Layer weights, written as numbers with commas between them."""


class Variables(BaseSettings):
    """Settings whose errors are one line.

    Raises:
        InvalidInput: If a value or the file .env cannot be used, naming it and what is wrong.
    """

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - any field's
        try:
            super().__init__(**values)
        except ValidationError as error:
            prefix = str(self.model_config.get("env_prefix", ""))
            raise InvalidInput(" ".join(_wrong(prefix, one) for one in error.errors())) from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{ENV_FILE.absolute()} is not UTF-8. Save it as UTF-8.") from error
        except OSError as error:
            raise InvalidInput(
                f"{ENV_FILE.absolute()} cannot be read ({type(error).__name__}). Make it readable, or move it away."
            ) from error


class Settings(Variables):
    """What can be set from outside; every name has the prefix HOTMEM_.

    A variable with the prefix that is no setting is named in a warning, with the one that was
    meant.

    Args:
        values: Settings by name, before the environment and the file.

    Raises:
        InvalidInput: If a value or the file .env cannot be used, naming it and what is wrong.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        extra="ignore",
        env_ignore_empty=True,
        allow_inf_nan=False,
    )

    database: Path = Field(default=Path("memory.db"), description="The memory file.")
    key: str = Field(
        default="",
        repr=False,
        description="The passphrase of an encrypted memory file; empty: HOTMEM_KEY_FILE, or a plain file.",
    )
    key_file: Path | None = Field(
        default=None, description="A file whose first line is the passphrase."
    )
    spool_dir: Path | None = Field(
        default=None,
        description="Folder where turns wait while the memory file cannot be written; empty: beside it.",
    )
    multilayer_retrieval: bool = Field(
        default=True, description="Ask all four layers as needed; off: the facts layer alone."
    )
    max_context_tokens: int = Field(
        default=DEFAULTS.recall.max_tokens, ge=1, description="Tokens of a context block at most."
    )
    opening_tokens: int = Field(
        default=DEFAULTS.recall.opening_tokens,
        ge=0,
        description="Tokens at most of what is given without being asked; 0: nothing is.",
    )
    say_unknown: bool = Field(
        default=DEFAULTS.recall.say_unknown,
        description="Tell the model of a question that nothing, or nothing certain, is known.",
    )
    max_facts: int = Field(
        default=DEFAULTS.recall.max_facts, ge=0, description="Facts in a block at most."
    )
    recall_deadline_ms: float = Field(
        default=150.0, ge=0, description="Milliseconds a bot waits for its memory at most."
    )
    semantic_threshold: float = Field(
        default=DEFAULTS.recall.semantic_threshold,
        ge=0,
        le=1,
        description="Least relevance of any line of a block; 0 leaves nothing out.",
    )
    verbatim_context_window: int = Field(
        default=DEFAULTS.recall.verbatim_window,
        ge=0,
        le=1000,
        description="Characters shown on each side of a passage.",
    )
    mark_symbols: bool = Field(
        default=DEFAULTS.recall.symbols, description="Marks as coloured circles instead of words."
    )
    adaptive_learning: bool = Field(
        default=DEFAULTS.learning.adaptive, description="Let the layer weights follow use."
    )
    usage_analytics: bool = Field(
        default=DEFAULTS.learning.analytics,
        description="Record in the memory file what replies used.",
    )
    weights: Numbers = Field(
        default=None,
        description="Layer weights for everyone, such as 1,0.8,0.6,0.4; empty: those that are learnt.",
    )
    time_zone: ZoneInfo | None = Field(
        default=None,
        description="Where the user is, such as Europe/Berlin; empty: the machine's own zone.",
    )
    session_idle_s: float = Field(
        default=DEFAULTS.background.idle_s,
        ge=0,
        description="Seconds of silence after which a session is summarised.",
    )
    evolution: bool = Field(
        default=DEFAULTS.evolution.on,
        description="Let categories evolve into subcategories in the background.",
    )
    evolution_hours: float = Field(
        default=DEFAULTS.evolution.every_s / 3600,
        ge=0,
        description="Hours after which one that has grown evolves anew.",
    )
    evolution_cluster_size: int = Field(
        default=DEFAULTS.evolution.cluster_size,
        ge=2,
        description="Memories of a subcategory at least.",
    )
    evolution_most: int = Field(
        default=DEFAULTS.evolution.most, ge=1, description="Subcategories of a category at most."
    )
    progressive_search: bool = Field(
        default=DEFAULTS.searching.progressive,
        description="Let tools stop searching when enough is found.",
    )
    progressive_suffices: int = Field(
        default=DEFAULTS.searching.suffices, ge=1, description="Good results that are enough."
    )
    forget_grace_hours: float = Field(
        default=DEFAULTS.forgetting.grace_s / 3600,
        ge=0,
        description="Hours for which a deletion by voice can be taken back; 0: it is erased at once.",
    )
    audit: bool = Field(
        default=DEFAULTS.audit.on,
        description="Keep who looked at a memory, changed it or took something out of it.",
    )
    audit_days: int = Field(
        default=DEFAULTS.audit.days, ge=1, description="Days after which that goes."
    )
    retention_days: int | None = Field(
        default=None,
        ge=1,
        description="Days after which all that was said is forgotten; empty: never.",
    )
    retention_file: Path | None = Field(
        default=None, description="A JSON file of more such rules, by category and user."
    )
    encoder: str = Field(
        default=DEFAULTS.models.encoder,
        description="'default', a trained file, or a sentence-transformers model by name or folder.",
    )
    cache_dir: Path | None = Field(
        default=None, description="Folder of prepared models; empty: the user's cache folder."
    )
    rewrite_model: str = Field(
        default="",
        description="A language model that says what a question leaves unsaid; empty: rules do.",
    )
    rewrite_base_url: str | None = Field(
        default=None, description="Its endpoint, of OpenAI's protocol."
    )
    rewrite_api_key: str = Field(default="", repr=False, description="Its key, if it wants one.")
    rewrite_deadline_ms: float = Field(
        default=DEFAULTS.rewriting.deadline_ms, ge=0, description="Milliseconds it may take."
    )
    mcp_token: str = Field(
        default="",
        repr=False,
        description="What programs send to `hotmem serve-mcp --http`; empty: a new one each time.",
    )
    relevance_model: Path | None = Field(
        default=None,
        description="Coefficients of relevance by `python -m eval train`; empty: the shipped ones.",
    )

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - any field's
        super().__init__(**values)
        file = values.get("_env_file", ENV_FILE)
        names = [*os.environ, *(() if file is None else dotenv_values(file))]
        _warn_of_unknown(type(self).model_fields, names)

    @classmethod
    def of_environment(cls, **values: Any) -> Self:  # noqa: ANN401 - any field's
        """The settings without the file .env, for the library.

        Args:
            values: Settings by name, before the environment.
        """
        return cls(_env_file=None, **values)

    def _retention(self) -> tuple[RetentionRule, ...]:
        every = () if self.retention_days is None else (RetentionRule(self.retention_days),)
        return (*every, *(() if self.retention_file is None else rules_of(self.retention_file)))

    def options(self) -> Options:
        """The same as options of the package.

        Raises:
            InvalidInput: If the key is given twice.
        """
        if self.key and self.key_file:
            raise InvalidInput("HOTMEM_KEY and HOTMEM_KEY_FILE are both set. Keep one of them.")
        return Options(
            recall=RecallOptions(
                max_tokens=self.max_context_tokens,
                max_facts=self.max_facts,
                opening_tokens=self.opening_tokens,
                semantic_threshold=self.semantic_threshold,
                say_unknown=self.say_unknown,
                verbatim_window=self.verbatim_context_window,
                symbols=self.mark_symbols,
                layers=tuple(Layer) if self.multilayer_retrieval else (Layer.FACTS,),
            ),
            learning=LearningOptions(
                adaptive=self.adaptive_learning,
                analytics=self.usage_analytics,
                weights=self.weights,
            ),
            background=BackgroundOptions(idle_s=self.session_idle_s),
            evolution=EvolutionOptions(
                on=self.evolution,
                every_s=self.evolution_hours * 3600,
                cluster_size=self.evolution_cluster_size,
                most=self.evolution_most,
            ),
            searching=SearchingOptions(
                progressive=self.progressive_search, suffices=self.progressive_suffices
            ),
            forgetting=ForgettingOptions(grace_s=self.forget_grace_hours * 3600),
            models=ModelOptions(
                encoder=self.encoder, cache_dir=self.cache_dir, relevance=self.relevance_model
            ),
            rewriting=RewriteOptions(
                model=self.rewrite_model,
                base_url=self.rewrite_base_url,
                api_key=self.rewrite_api_key,
                deadline_ms=self.rewrite_deadline_ms,
            ),
            audit=AuditOptions(on=self.audit, days=self.audit_days),
            retention=self._retention(),
            time_zone=self.time_zone,
            key=self.key or self.key_file,
            spool_dir=self.spool_dir,
        )


def _warn_of_unknown(fields: Iterable[str], names: Iterable[str]) -> None:
    known = [
        *(field.upper() for field in fields),
        *(name.removeprefix(PREFIX) for name in OF_THE_BOTS),
    ]
    for name in names:
        if (
            name.upper().startswith(PREFIX)
            and (given := name.upper().removeprefix(PREFIX)) not in known
        ):
            _warn_once(name, next(iter(get_close_matches(given, known, 1)), None))


@cache
def _warn_once(name: str, meant: str | None) -> None:
    """A warning and no error.

    Platforms set variables of their own, as HOTMEM_PORT for a service of that name.
    """
    log.warning(
        f"{name} is no setting and does nothing."
        + (f" Did you mean {PREFIX}{meant}?" if meant else "")
    )


def _wrong(prefix: str, error: Any) -> str:  # noqa: ANN401 - pydantic's own dictionary
    name = str(error["loc"][0]).upper().removeprefix(prefix)
    return f"{prefix}{name} cannot be {error['input']!r}. {_told(error['msg'])}."


def _told(message: str) -> str:
    """What pydantic says is wrong, without its own word before what we say."""
    return message.removeprefix("Value error, ").removesuffix(".")
