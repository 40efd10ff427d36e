"""A comparison in words, as a table, and as one self-contained HTML page."""

from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hotmem.core.validation import counted
from hotmem.replay.comparison import MARGIN, MIN_EXCHANGES, Comparison, Figures, Verdict
from hotmem.replay.replaying import Study
from hotmem.settings import PREFIX

MIN_SESSIONS: Final = 10
"""Sessions below which the report warns, and does not estimate how many are needed."""

MIN_FOUND: Final = 0.03
"""Share of content words below which the report warns that memory is hardly used."""

MAX_FOREIGN: Final = 0.3
"""Share of replies in other languages from which the report warns."""


def asked(comparison: Comparison) -> str:
    """Return what the comparison is based on: "30 questions from 10 sessions"."""
    questions = counted(comparison.exchanges, "question")
    return f"{questions} from {counted(comparison.sessions, 'session')}"


def conclusion(comparison: Comparison) -> str:
    """Return the conclusion in one line."""
    best = comparison.better or comparison.cheaper
    if best is not None:
        return f"Better: {best.setting.plain}"
    return "Too little to judge." if comparison.too_little else "Keep your settings."


def reasons(comparison: Comparison) -> list[str]:
    """Explain why settings are better, or that none is."""
    sentences = []
    if comparison.better is not None:
        sentences.append(_finds_more(comparison.better, comparison.now))
    if comparison.cheaper is not None:
        sentences.append(_costs_less(comparison.cheaper, comparison.now))
    questions = comparison.exchanges
    if comparison.too_little:
        sentences.append(_too_little(comparison))
    elif not sentences:
        sentences.append(
            f"No other setting is significantly better with {counted(questions, 'question')}: "
            "keep your settings."
        )
        sentences += [_undecided(one, comparison.now) for one in comparison.undecided]
    return sentences


def cautions(study: Study) -> list[str]:
    """Return warnings about this recording; empty if there are none."""
    comparison, sentences = study.comparison, list[str]()
    if _few(comparison) and not comparison.too_little:
        sentences.append(
            f"This comparison has only {asked(comparison)}. Real differences may not be "
            "significant yet; try again after more conversations."
        )
    if comparison.now.found < MIN_FOUND:
        share = f"{comparison.now.found_share:.0%}"
        sentences.append(
            f"Only {share} of the words in the replies came from memory, so there is little to "
            "compare. Either your bot is rarely asked about earlier conversations, or it ignores "
            "its context block."
        )
    if study.foreign >= MAX_FOREIGN:
        sentences.append(
            f"{study.foreign:.0%} of the replies do not look English. HotMem supports English "
            "only; do not rely on these figures."
        )
    if study.recording.left_out:
        turns = counted(study.recording.left_out, "turn was", "turns were")
        sentences.append(f"The earliest {turns} left out; raise --turns to replay them.")
    return sentences


def _too_little(comparison: Comparison) -> str:
    """Say how much more is needed, if that can be estimated; the settings stay until then."""
    based_on, needed = f"This comparison has only {asked(comparison)}.", comparison.needed_sessions
    if _few(comparison):
        return (
            f"{based_on} Compare again with at least {MIN_EXCHANGES} questions from {MIN_SESSIONS} "
            "sessions; keep your settings until then."
        )
    if needed is None:
        return f"{based_on} How many it takes cannot be estimated from them; keep your settings."
    questions = -(-comparison.exchanges * needed // comparison.sessions)
    return (
        f"{based_on} It takes about {rounded(questions):,} questions from {rounded(needed):,} "
        f"sessions to tell a difference of {MARGIN:.0%} in what memory finds; keep your settings "
        "until then."
    )


def rounded(number: int) -> int:
    """Return a positive number rounded to two digits, as an estimate deserves no more."""
    return round(number, 2 - len(str(number)))


def _few(comparison: Comparison) -> bool:
    """Whether there is too little to estimate how much is needed."""
    return comparison.exchanges < MIN_EXCHANGES or comparison.sessions < MIN_SESSIONS


def _finds_more(one: Figures, now: Figures) -> str:
    low, high = 100 * one.found_gain.low, 100 * one.found_gain.high
    extra = one.tokens - now.tokens
    price = (
        f"It costs {counted(round(extra), 'more token')} per question."
        if extra > 0.5
        else f"It also saves {counted(round(-extra), 'token')} per question."
    )
    return (
        f"With {one.setting.plain}, memory provides {one.found_share:.0%} of the content words in "
        f"the replies; with your present settings, {now.found_share:.0%}. The gain is significant: "
        f"{100 * one.found_gain.mean:.0f} percentage points, confidence interval {low:.1f} to "
        f"{high:.1f}. {price}"
    )


def _costs_less(one: Figures, now: Figures) -> str:
    tokens = counted(round(one.tokens), "token")
    return (
        f"With {one.setting.plain}, the language model reads {tokens} per question instead of "
        f"{now.tokens:,.0f}, {-one.wasted_gain.mean:.0f} fewer of them unused, and "
        f"memory finds as much: {one.found_share:.0%} of the content words in the replies; your "
        f"present settings {now.found_share:.0%}. The confidence interval of the difference is "
        f"{100 * one.found_gain.low:+.1f} to {100 * one.found_gain.high:+.1f} percentage points."
    )


def _undecided(one: Figures, now: Figures) -> str:
    """Describe the cost of a setting whose benefit is inconclusive."""
    difference = one.tokens - now.tokens
    price, doubt = (
        (f"costs {counted(round(difference), 'token')}", "more")
        if difference > 0
        else (f"saves {counted(round(-difference), 'token')}", "less")
    )
    return (
        f"With {one.setting.plain}, each question {price}. Whether it finds {doubt} "
        f"({one.found_share:.0%} against {now.found_share:.0%}) is inconclusive: compare again "
        "after more conversations, or raise --questions."
    )


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

CLASSES: Final = {
    Verdict.MORE: "better",
    Verdict.CHEAPER: "better",
    Verdict.LESS: "worse",
    Verdict.DEARER: "worse",
}


def along(value: float, least: float, most: float) -> str:
    """Return the place of a value on an axis from `least` to `most`: "0.00%" to "100.00%"."""
    return f"{100 * (value - least) / ((most - least) or 1):.2f}%"


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
        "along": along,
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
    )


CAPTION: Final = (
    "found: share of the content words of replies that memory provided; difference: confidence "
    "interval in percentage points; used: share of items that replies used; tokens: per question; "
    "wasted: tokens of unused items; ms: median latency"
)


def comparison_table(comparison: Comparison) -> Table:
    """Return a table of the settings with their verdicts, 80 characters wide."""
    table = Table(
        title=asked(comparison),
        title_justify="left",
        box=SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
        show_lines=False,
    )
    table.caption, table.caption_justify = CAPTION, "left"
    table.add_column("setting", overflow="fold")
    for heading in ("found", "difference", "used", "tokens", "wasted", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in comparison.figures:
        gain = one.found_gain
        table.add_row(
            _setting_cell(one),
            f"{one.found_share:.0%}",
            "" if one.verdict is None else f"{100 * gain.low:+.0f} to {100 * gain.high:+.0f}",
            f"{one.precision:.0%}",
            f"{one.tokens:.0f}",
            f"{one.wasted:.0f}",
            f"{one.p50_ms:.0f}",
        )
    return table


def _setting_cell(one: Figures) -> Text:
    name = one.setting.name.replace(PREFIX, "")
    return (
        Text(name)
        if one.verdict is None
        else Text.assemble(name, "\n  ", (str(one.verdict), "dim"))
    )
