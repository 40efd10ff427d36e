"""Templates → pages: how times, shares and the words of the field are written for someone who has not read a manual."""

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from hotmem.text.escaping import escape_for_display
from hotmem.text.timezones import to_zone, zone_name
from hotmem.types import Category, Kind

LAYERS: Final = {
    "facts": ("Facts", "single statements that were read from what was said"),
    "sessions": ("Conversations", "whole conversations, by what they were about"),
    "semantic": ("Meaning", "what means the same, in whatever words"),
    "verbatim": ("Exact words", "the very words and names of the question"),
}
"""The four ways of searching: what they are called here, and what they search."""

CATEGORIES: Final = {
    Category.CONTEXTS: "people and their lives",
    Category.PROJECTS: "plans and work under way",
    Category.LEARNINGS: "things learnt",
    Category.REMINDERS: "things to be done",
    Category.REFERENCES: "numbers and addresses",
    Category.INTERACTIONS: "meetings and events",
    Category.SYSTEM: "how the bot should behave",
}

KINDS: Final = {
    Kind.FACT: "fact",
    Kind.PREFERENCE: "like or dislike",
    Kind.SKILL: "skill",
    Kind.RULE: "rule",
    Kind.CONTEXT: "circumstance",
    Kind.REMINDER: "reminder",
}

USES: Final = {
    "direct quote": "used, in these words",
    "direct reference": "used",
    "conceptual influence": "perhaps used",
    "unused": "not used",
}
"""Whether and how a reply used an item."""

INTENTS: Final = {
    "fact": "a fact",
    "reference": "something that was said before",
    "time": "when something was",
    "relation": "how things hang together",
    "pattern": "what comes up again and again",
    "summary": "a summary",
    "instruction": "to remember or to forget something",
    "chitchat": "nothing that memory could help with",
}

COMPLEXITIES: Final = {
    "low": "one thing",
    "medium": "several things",
    "high": "many things at once",
}

OUTCOMES: Final = {
    "answered": "answered",
    "late": "was too late",
    "failed": "failed",
    "not asked": "not needed",
}

ACTIONS: Final = {
    "filed": "stored by hand",
    "confirmed": "said again",
    "merged": "merged",
    "edited": "reworded",
    "refiled": "filed elsewhere",
    "tags consolidated": "tags joined",
    "evolved": "subcategories found",
    "imported": "imported",
}
"""What was decided about a memory."""

STAGES: Final = {
    "query": "understanding the question",
    "layers": "searching",
    "evidence": "loading what was found",
    "context": "choosing what to tell",
}


def page(template: str, **values: Any) -> str:  # noqa: ANN401 - whatever a template shows
    """A page of its template."""
    return _environment().get_template(template).render(**values)


def here(value: datetime, zone: tzinfo | None) -> datetime:
    """A moment by the user's clock; one that comes with a zone of its own keeps it.

    Args:
        value: The moment; in UTC if nothing is known of its zone.
        zone: The user's zone; None is this machine's.
    """
    return to_zone(value, zone) if value.tzinfo is UTC else value


@pass_context
def day(context: Context, value: datetime) -> str:
    """A date."""
    return here(value, context["zone"]).strftime("%Y-%m-%d")


@pass_context
def moment(context: Context, value: datetime) -> Markup:
    """A date and time of day, for people and for machines.

    Where it was not said by the page's clock, with the zone.
    """
    own, page_own = here(value, context["zone"]), to_zone(value, context["zone"])
    elsewhere = "" if own.utcoffset() == page_own.utcoffset() else f" ({zone_name(own) or 'UTC'})"
    return Markup('<time datetime="{}">{}{}</time>').format(
        own.isoformat(timespec="seconds"), own.strftime("%Y-%m-%d %H:%M"), elsewhere
    )


def share(value: float) -> str:
    """A share as a percentage; what is nearly nothing is not written as nothing."""
    if 0 < value < 0.001:
        return "under 0.1 %"
    return f"{100 * value:.{1 if 0 < value < 0.01 else 0}f} %"


def marked(text: str, start: int, stop: int) -> Markup:
    """A text with one stretch of it marked."""
    return Markup("{}<mark>{}</mark>{}").format(text[:start], text[start:stop], text[stop:])


def cut(text: str, most: int = 280) -> str:
    """A text that is not too long for a list."""
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def _words() -> Iterator[tuple[str, Any]]:
    yield from {
        "LAYERS": LAYERS,
        "CATEGORIES": CATEGORIES,
        "KINDS": KINDS,
        "USES": USES,
        "INTENTS": INTENTS,
    }.items()
    yield from {
        "COMPLEXITIES": COMPLEXITIES,
        "OUTCOMES": OUTCOMES,
        "STAGES": STAGES,
        "ACTIONS": ACTIONS,
    }.items()


def _safe(value: Any) -> Any:  # noqa: ANN401 - whatever a template shows
    """A value without characters that turn the direction of writing; markup stays markup."""
    if not isinstance(value, str) or (safe := escape_for_display(value)) == value:
        return value
    return type(value)(safe)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("hotmem.inspector"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    made.globals.update(_words())
    made.filters.update(day=day, moment=moment, share=share, cut=cut)
    made.globals["marked"] = marked
    return made
