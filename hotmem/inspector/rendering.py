"""Rendering of templates: labels, times and percentages."""

import json
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from hotmem.core.validation import counted
from hotmem.text.escaping import escape_for_display
from hotmem.text.timezones import to_zone, zone_name
from hotmem.types.inspection import Count
from hotmem.understanding.private_statements import is_private

LABELS: Final[dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_name("labels.json").read_text("utf-8")
)
"""What pages show for the values of an enumeration or the names of columns, by template variable.

A layer has a label and a description. Of the changes of a decision, those in `SHOWN_CHANGES` are
shown."""


def render_page(template: str, **values: Any) -> str:  # noqa: ANN401 - whatever a template shows
    """Render a template."""
    return _environment().get_template(template).render(**values)


def local_time(value: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in the time zone of the user; a time with its own zone keeps it.

    Args:
        value: Time; UTC if its zone is unknown.
        zone: Time zone of the user; None is that of this machine.
    """
    return to_zone(value, zone) if value.tzinfo is UTC else value


@pass_context
def day(context: Context, value: datetime) -> str:
    """Format a date."""
    return local_time(value, context["zone"]).strftime("%Y-%m-%d")


@pass_context
def moment(context: Context, value: datetime) -> Markup:
    """Format a date and time as a <time> element, with its zone if that is not the page's."""
    own, page_own = local_time(value, context["zone"]), to_zone(value, context["zone"])
    elsewhere = "" if own.utcoffset() == page_own.utcoffset() else f" ({zone_name(own) or 'UTC'})"
    return Markup('<time datetime="{}">{}{}</time>').format(
        own.isoformat(timespec="seconds"), own.strftime("%Y-%m-%d %H:%M"), elsewhere
    )


def share(value: float) -> str:
    """Format a share as a percentage; small values are not rounded to zero."""
    if 0 < value < 0.001:
        return "under 0.1 %"
    return f"{100 * value:.{1 if 0 < value < 0.01 else 0}f} %"


def marked(text: str, start: int, stop: int) -> Markup:
    """Return a text with one range marked."""
    return Markup("{}<mark>{}</mark>{}").format(text[:start], text[start:stop], text[stop:])


def veiled(text: str, whole: str = "") -> str:
    """Hide a text until it is clicked, if it, or the whole that it is of, holds a secret."""
    veil = Markup('<span class="veiled" tabindex="0" title="A secret: click to show">{}</span>')
    return veil.format(text) if is_private(whole or text) else text


def cut(text: str, limit: int = 280) -> str:
    """Shorten a text at a word boundary; of a secret, say that it is one."""
    text = "A secret" if is_private(text) else text
    return text if len(text) <= limit else f"{text[:limit].rsplit(' ', 1)[0]} …"


def counted_rows(count: int | Count, singular: str, plural: str | None = None) -> str:
    """Format a number of rows with its noun; "+" marks a lower bound."""
    if isinstance(count, Count) and not count.exact:
        return f"{count} {plural or f'{singular}s'}"
    return counted(count.rows if isinstance(count, Count) else count, singular, plural)


def _safe(value: Any) -> Any:  # noqa: ANN401 - whatever a template shows
    """Escape control and direction characters of a value; markup is kept."""
    if not isinstance(value, str) or (safe := escape_for_display(value)) == value:
        return value
    return type(value)(safe)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hotmem.inspector"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    environment.globals.update(LABELS, marked=marked)
    environment.filters.update(day=day, moment=moment, share=share, cut=cut, counted=counted_rows)
    environment.filters["veiled"], environment.tests["secret"] = veiled, is_private
    return environment
