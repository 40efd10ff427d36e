"""The report: one page that someone understands who has not read how it is made, and that loads nothing."""

from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hotmem.replay import plots
from hotmem.replay.comparison import Verdict
from hotmem.replay.study import Study
from hotmem.replay.wording import cautions, conclusion, reasons

MEANING: Final = {
    Verdict.MORE: "It brings more of what the replies said, by more than chance.",
    Verdict.CHEAPER: "It brings as much, at worst a tenth less, and wastes fewer tokens, by more than chance.",
    Verdict.LESS: "It brings less, by more than chance.",
    Verdict.DEARER: "It wastes more tokens, by more than chance, and brings no more for them.",
    Verdict.SPARING: "It wastes fewer tokens, by more than chance; whether it brings less cannot be told with this many questions.",
    Verdict.COSTLY: "It wastes more tokens, by more than chance; whether it brings more cannot be told with this many questions.",
    Verdict.SAME: "With this many questions it cannot be told from your present settings.",
}

FOUND: Final = "telling words of the replies, in points: fewer (left) or more (right: better)"
WASTED: Final = "tokens wasted a question: fewer (left: better) or more (right)"
"""What the plots' axes measure."""

CLASSES: Final = {
    Verdict.MORE: "better",
    Verdict.CHEAPER: "better",
    Verdict.LESS: "worse",
    Verdict.DEARER: "worse",
}


def breakable(name: str) -> Markup:
    """A name with places where a line may break."""
    return Markup("_<wbr>").join(name.split("_"))


def rendered(study: Study) -> str:
    """The page. Blocking: a second."""
    environment = Environment(
        loader=PackageLoader("hotmem.replay", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {
        "share": lambda value: f"{value:.0%}",
        "whole": lambda value: f"{value:,.0f}",
        "breakable": breakable,
    }
    comparison = study.comparison
    return environment.get_template("report.html").render(
        study=study,
        comparison=comparison,
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
