"""Templates → pages: how times, shares and the words of the field are written for someone who has not read a manual."""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hotmem.types import Category, Kind

LAYERS: Final = {
    "facts": ("Facts", "single statements that were read from what was said"),
    "sessions": ("Conversations", "whole conversations, by what they were about"),
    "semantic": ("Meaning", "what means the same, in whatever words"),
    "verbatim": ("Exact words", "the very words and names of the question"),
}
"""The four ways of searching: what they are called here, and what they search."""

CATEGORIES: Final = {
    Category.CONTEXTS: "about people and their lives",
    Category.PROJECTS: "plans and work under way",
    Category.LEARNINGS: "what was learnt",
    Category.REMINDERS: "what must be done",
    Category.REFERENCES: "numbers, names and addresses to look up",
    Category.INTERACTIONS: "what was said and agreed with others",
    Category.SYSTEM: "how the bot should behave",
}

KINDS: Final = {
    Kind.FACT: "a fact",
    Kind.PREFERENCE: "a like or dislike",
    Kind.SKILL: "something somebody can do",
    Kind.RULE: "a rule to keep to",
    Kind.CONTEXT: "circumstances",
    Kind.REMINDER: "something to remember to do",
}

USES: Final = {
    "direct quote": "said in these words",
    "direct reference": "referred to",
    "conceptual influence": "perhaps of influence",
    "unused": "not used",
}
"""How a reply used an item."""

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

COMPLEXITIES: Final = {"low": "simple", "medium": "of several parts", "high": "far-reaching"}

OUTCOMES: Final = {"answered": "answered", "late": "was too late", "failed": "failed", "not asked": "not asked"}

STAGES: Final = {
    "query": "understanding the question",
    "layers": "searching",
    "evidence": "loading what was found",
    "context": "choosing what to tell",
}


def page(template: str, **values: Any) -> str:  # noqa: ANN401 - whatever a template shows
    """A page of its template."""
    return _environment().get_template(template).render(**values)


def day(moment: datetime) -> str:
    """A date."""
    return moment.strftime("%Y-%m-%d")


def moment(value: datetime) -> Markup:
    """A date and time of day, for people and for machines."""
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(timespec="seconds"), value.strftime("%Y-%m-%d %H:%M"))


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
    yield from {"LAYERS": LAYERS, "CATEGORIES": CATEGORIES, "KINDS": KINDS, "USES": USES, "INTENTS": INTENTS}.items()
    yield from {"COMPLEXITIES": COMPLEXITIES, "OUTCOMES": OUTCOMES, "STAGES": STAGES}.items()


@cache
def _environment() -> Environment:
    made = Environment(loader=PackageLoader("hotmem.inspector"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.globals.update(_words())
    made.filters.update(day=day, moment=moment, share=share, cut=cut)
    made.globals["marked"] = marked
    return made
