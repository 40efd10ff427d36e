"""What a comparison says, in sentences for someone who has not read how it is made."""

from hotmem.replay.comparison import FEW, Comparison, Figures, Interval
from hotmem.replay.study import Study

FEW_SESSIONS = 10
"""Sessions under which their differences hide most effects."""

RARELY = 0.1
"""Share of the questions under which memory hardly came into the replies."""

FOREIGN = 0.3
"""Share of replies in another language from which the figures mean little."""


def conclusion(comparison: Comparison) -> str:
    """The answer in one line."""
    best = comparison.better or comparison.cheaper
    return "Keep your settings." if best is None else f"Better: {best.setting.name}"


def reasons(comparison: Comparison) -> list[str]:
    """Why, setting by setting, for those that are better; or that none is."""
    told = []
    if comparison.better is not None:
        told.append(_finds_more(comparison.better, comparison.now))
    if comparison.cheaper is not None:
        told.append(_costs_less(comparison.cheaper, comparison.now))
    if not told:
        others = len(comparison.figures) - 1
        told.append(f"None of the {others} other settings is better by more than chance could bring about with {comparison.exchanges} questions.")
    return told


def cautions(study: Study) -> list[str]:
    """What to bear in mind with this recording in particular; nothing, if all is well."""
    comparison, told = study.comparison, []
    if comparison.exchanges < FEW or comparison.sessions < FEW_SESSIONS:
        asked = f"{comparison.exchanges} questions from {comparison.sessions} sessions"
        told.append(f"There are only {asked}. Real differences may not show yet; come back after more conversations.")
    if comparison.now.helped < RARELY:
        share = f"{comparison.now.helped:.0%}"
        reason = "Either your bot is seldom asked about earlier conversations, or it ignores what it is given."
        told.append(f"Only {share} of the replies used anything from memory, so there is little to compare by. {reason}")
    if study.foreign >= FOREIGN:
        told.append(f"{study.foreign:.0%} of the replies do not look English. HotMem reads English only; do not rely on these figures.")
    if study.recording.left_out:
        told.append(f"The {study.recording.left_out:,} earliest turns were left out to keep this short; raise --turns to replay them too.")
    return told


def points(interval: Interval | None) -> str:
    """A difference of shares in points, with its interval."""
    return "" if interval is None else f"{100 * interval.mean:+.1f} ({100 * interval.low:+.1f} to {100 * interval.high:+.1f})"


def tokens(interval: Interval | None) -> str:
    """A difference of tokens, with its interval."""
    return "" if interval is None else f"{interval.mean:+.0f} ({interval.low:+.0f} to {interval.high:+.0f})"


def _finds_more(one: Figures, now: Figures) -> str:
    assert one.found_gain is not None
    low, high = 100 * one.found_gain.low, 100 * one.found_gain.high
    extra = one.tokens - now.tokens
    price = f"It costs {extra:.0f} tokens more a question." if extra > 0.5 else f"It saves {-extra:.0f} tokens a question besides."
    return (
        f"{one.setting.name} finds {one.found:.0%} of what the replies took from memory, your present settings {now.found:.0%}. "
        f"The gain is between {low:.1f} and {high:.1f} points, more than chance could bring about. {price}"
    )


def _costs_less(one: Figures, now: Figures) -> str:
    assert one.wasted_gain is not None and one.found_gain is not None
    return (
        f"{one.setting.name} makes the language model read {one.tokens:.0f} tokens a question instead of {now.tokens:.0f}, "
        f"{-one.wasted_gain.mean:.0f} fewer of them for nothing, and finds as much: {one.found:.0%} of what the replies took from memory, "
        f"your present settings {now.found:.0%}. "
        f"The difference lies between {100 * one.found_gain.low:+.1f} and {100 * one.found_gain.high:+.1f} points."
    )
