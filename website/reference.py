"""Write the generated pages of docs/reference, and .env.example: `python -m website.reference`.

They are committed, so that they can be read in the repository; a test says when they are outdated.
"""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, get_args

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from hotmem.cli.app import PANELS
from hotmem.options import ExtractionOptions, RewriteOptions
from hotmem.settings import PIPELINE_VARIABLES, PREFIX, Settings

ROOT: Final = Path(__file__).parents[1]

NOTICE: Final = "<!-- Generated from the code by `python -m website.reference`. Do not edit. -->\n"

SECTIONS: Final = {
    "The memory file": ("database", "key", "spool_dir"),
    "The context block": (
        *("max_context_tokens", "opening_tokens", "recall_deadline_ms"),
        *("semantic_threshold", "verbatim_", "multilayer_"),
        "time_zone",
        "language",
    ),
    "Learning": ("adaptive_learning", "usage_analytics"),
    "Background work": ("background",),
    "Memory tools": ("mcp_token",),
    "Privacy": ("forget_", "audit", "retention_"),
    "Models": ("encoder", "rewriting", "extraction"),
}
"""Beginnings of the names of settings, by the heading they are listed under."""

OTHERS: Final = "Others"

EXAMPLE_HEAD: Final = (
    "All settings with their defaults. Set variables in the environment, where they apply to every"
    " memory that is opened, or copy this file to .env in the working directory, which the `hotmem`"
    " command and the bots in pipelines/ read. Arguments in code take precedence. Generated from"
    " hotmem/settings.py by `python -m website.reference`."
)
BOTS_HEAD: Final = (
    "An OpenAI-compatible language model for the bots in pipelines/. Without one, a rule-based"
    " responder answers."
)
"""Comments of the example."""

WORDS: Final = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    Path: "path",
    RewriteOptions: "JSON",
    ExtractionOptions: "JSON",
}
"""What the values of a type are called."""


def settings_page() -> str:
    """The page of all settings."""
    sections: dict[str, list[str]] = {heading: [] for heading in (*SECTIONS, OTHERS)}
    for name, field in Settings.model_fields.items():
        sections[_section(name)].append(
            f"| `{PREFIX}{name.upper()}` | {_default(field.default)} | {_values(field)} |"
            f" {_cell(field.description or '')} |"
        )
    tables = (
        f"## {heading}\n\n| variable | default | values | |\n|---|---|---|---|\n" + "\n".join(rows)
        for heading, rows in sections.items()
        if rows
    )
    return (
        "\n\n".join(
            (
                f"{NOTICE}\n# Settings",
                "Settings are environment variables. [Tune the block](../guides/tuning.md) says"
                " which ones are worth trying, how code can override them, and how to set what has"
                " no variable.",
                *tables,
            )
        )
        + "\n"
    )


def commands_page() -> str:
    """The page of all commands."""
    tables = (
        f"## {panel}\n\n| command | |\n|---|---|\n"
        + "\n".join(
            f"| `hotmem {name}` | {_cell(_summary(command))} |"
            for name, command in commands.items()
        )
        for panel, commands in PANELS.items()
    )
    return (
        "\n\n".join(
            (
                f"{NOTICE}\n# Commands",
                "`hotmem COMMAND --help` lists the options of a command. Most commands take"
                " `--user`, the id that your bot passes to HotMem, and `--database`, a file or a"
                " `postgresql://` URL; the default is `HOTMEM_DATABASE`, else `memory.db`."
                " Tables show the first characters of an id, and commands accept 4 or more of them."
                " Many commands can print JSON for programs (`--json`).",
                *tables,
            )
        )
        + "\n"
    )


def example() -> str:
    """The example of a file .env, with all settings and their defaults."""
    settings = (
        f"{_comment(field.description or '')}\n{PREFIX}{name.upper()}={_plain(field.default)}"
        for name, field in Settings.model_fields.items()
    )
    models = (f"{PREFIX}{name}=" for name in PIPELINE_VARIABLES)
    return "\n".join((_comment(EXAMPLE_HEAD), "", *settings, "", _comment(BOTS_HEAD), *models, ""))


PAGES: Final = {
    "docs/reference/settings.md": settings_page,
    "docs/reference/commands.md": commands_page,
    ".env.example": example,
}
"""What makes each file."""


def _summary(command: Callable[..., Any]) -> str:
    """The first paragraph of a command's help."""
    return " ".join((command.__doc__ or "").split("\n\n")[0].split())


def _section(name: str) -> str:
    return next(
        (heading for heading, beginnings in SECTIONS.items() if name.startswith(beginnings)),
        OTHERS,
    )


def _default(value: object) -> str:
    return f"`{plain}`" if (plain := _plain(value)) else "empty"


def _plain(value: object) -> str:
    """A default as the value of a variable."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def _comment(text: str) -> str:
    """A text as a comment of several lines."""
    return "\n".join(f"# {line}" for line in wrap(" ".join(text.split()), 98))


def _values(field: FieldInfo) -> str:
    kind = next(_kinds(field.annotation), str)
    if issubclass(kind, StrEnum):
        return ", ".join(f"`{member}`" for member in kind)
    word = WORDS.get(kind, "text")
    low = next((one.ge for one in field.metadata if isinstance(one, Ge)), None)
    high = next((one.le for one in field.metadata if isinstance(one, Le)), None)
    if low is None:
        return word
    return f"{word}, {low} to {high}" if high is not None else f"{word}, {low} or more"


def _kinds(annotation: Any) -> Iterator[type]:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type):
        yield annotation
    for part in get_args(annotation):
        if part is not type(None):
            yield from _kinds(part)


def _cell(text: str) -> str:
    """Text in a table, in one line, with the names of variables as code."""
    text = " ".join(text.split())
    return re.sub(r"(?<![`\w])HOTMEM_\w+", r"`\g<0>`", text).replace("|", "\\|")


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
