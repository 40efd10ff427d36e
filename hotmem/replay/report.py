"""HTML report of a comparison: one self-contained page."""

from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hotmem.core.counts import counted
from hotmem.replay import plots
from hotmem.replay.comparison import Verdict
from hotmem.replay.study import Study
from hotmem.replay.wording import asked, cautions, conclusion, reasons

MEANING: Final = {
    Verdict.MORE: "It finds significantly more of the words in the replies.",
    Verdict.CHEAPER: "It wastes significantly fewer tokens and finds at most a tenth less.",
    Verdict.LESS: "It finds significantly less.",
    Verdict.DEARER: "It wastes significantly more tokens and finds no more.",
    Verdict.SPARING: (
        "It wastes significantly fewer tokens; whether it finds less is inconclusive with this "
        "many questions."
    ),
    Verdict.COSTLY: (
        "It wastes significantly more tokens; whether it finds more is inconclusive with this "
        "many questions."
    ),
    Verdict.SAME: "No significant difference to the present settings with this many questions.",
}

FOUND: Final = (
    "content words of the replies, in percentage points: fewer (left) or more (right: better)"
)
WASTED: Final = "wasted tokens per question: fewer (left: better) or more (right)"
"""Axis labels of the plots."""

CLASSES: Final = {
    Verdict.MORE: "better",
    Verdict.CHEAPER: "better",
    Verdict.LESS: "worse",
    Verdict.DEARER: "worse",
}


def breakable(name: str) -> Markup:
    """Allow line breaks in a name."""
    return Markup("_<wbr>").join(name.split("_"))


def render_report(study: Study) -> str:
    """Render the report. Blocking."""
    environment = Environment(
        loader=PackageLoader("hotmem.replay", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {
        "counted": counted,
        "share": lambda value: f"{value:.0%}",
        "whole": lambda value: f"{value:,.0f}",
        "breakable": breakable,
    }
    comparison = study.comparison
    return environment.get_template("report.html").render(
        study=study,
        comparison=comparison,
        asked=asked(comparison),
        conclusion=conclusion(comparison),
        reasons=reasons(comparison),
        cautions=cautions(study),
        advised=[one for one in (comparison.better, comparison.cheaper) if one is not None],
        meaning=MEANING,
        classes=CLASSES,
        found=Markup(plots.differences(comparison, FOUND, lambda one: one.found_gain, 100)),
        wasted=Markup(plots.differences(comparison, WASTED, lambda one: one.wasted_gain)),
        latencies=Markup(plots.latencies(comparison)),
    )
