"""What a comparison says, in sentences for someone who has not read how it is made."""

from typing import Final

from hotmem.replay.comparison import FEW, Comparison, Figures
from hotmem.replay.study import Study

FEW_SESSIONS: Final = 10
"""Sessions under which their differences hide most effects."""

RARELY: Final = 0.03
"""Share of the replies' telling words under which memory hardly came into them."""

FOREIGN: Final = 0.3
"""Share of replies in another language from which the figures mean little."""


def conclusion(comparison: Comparison) -> str:
    """The answer in one line."""
    best = comparison.better or comparison.cheaper
    return "Keep your settings." if best is None else f"Better: {best.setting.plain}"


def reasons(comparison: Comparison) -> list[str]:
    """Why, setting by setting, for those that are better; or that none is."""
    told = []
    if comparison.better is not None:
        told.append(_finds_more(comparison.better, comparison.now))
    if comparison.cheaper is not None:
        told.append(_costs_less(comparison.cheaper, comparison.now))
    others, questions = len(comparison.figures) - 1, comparison.exchanges
    if not told:
        told.append(
            f"None of the {others} other settings is better by more than chance brings about with {questions} questions: keep what you have."
        )
        told += [_undecided(one, comparison.now) for one in comparison.undecided]
    return told


def cautions(study: Study) -> list[str]:
    """What to bear in mind with this recording in particular; nothing, if all is well."""
    comparison, told = study.comparison, []
    if comparison.exchanges < FEW or comparison.sessions < FEW_SESSIONS:
        asked = f"{comparison.exchanges} questions from {comparison.sessions} sessions"
        told.append(
            f"There are only {asked}. Real differences may not show yet; come back after more conversations."
        )
    if comparison.now.found < RARELY:
        share = f"{max(comparison.now.found, 0):.0%}"
        reason = "Either your bot is seldom asked about earlier conversations, or it ignores what it is given."
        told.append(
            f"Only {share} of the words in the replies came from memory, so there is little to compare by. {reason}"
        )
    if study.foreign >= FOREIGN:
        told.append(
            f"{study.foreign:.0%} of the replies do not look English. HotMem reads English only; do not rely on these figures."
        )
    if study.recording.left_out:
        told.append(
            f"The {study.recording.left_out:,} earliest turns were left out to keep this short; raise --turns to replay them too."
        )
    return told


def _finds_more(one: Figures, now: Figures) -> str:
    low, high = 100 * one.found_gain.low, 100 * one.found_gain.high
    extra = one.tokens - now.tokens
    price = (
        f"It costs {extra:.0f} tokens more a question."
        if extra > 0.5
        else f"It saves {-extra:.0f} tokens a question besides."
    )
    return (
        f"With {one.setting.plain} memory brings {one.found:.0%} of the telling words in the replies, with your present settings {now.found:.0%}. "
        f"The gain is real: it is {100 * one.found_gain.mean:.0f} points, and between {low:.1f} and {high:.1f} if chance had its part in it. {price}"
    )


def _costs_less(one: Figures, now: Figures) -> str:
    return (
        f"With {one.setting.plain} the language model reads {one.tokens:.0f} tokens a question instead of {now.tokens:.0f}, "
        f"{-one.wasted_gain.mean:.0f} fewer of them for nothing, and memory finds as much: {one.found:.0%} of the telling words in the replies, "
        f"your present settings {now.found:.0%}. "
        f"The difference lies between {100 * one.found_gain.low:+.1f} and {100 * one.found_gain.high:+.1f} points."
    )


def _undecided(one: Figures, now: Figures) -> str:
    """What a setting costs or spares, and what it may bring."""
    difference = one.tokens - now.tokens
    price, doubt = (
        (f"costs {difference:.0f}", "more")
        if difference > 0
        else (f"saves {-difference:.0f}", "less")
    )
    return (
        f"With {one.setting.plain} each question {price} tokens. "
        f"Whether that finds {doubt} ({one.found:.0%} against {now.found:.0%}) cannot be told yet: "
        f"compare again when there are more conversations, or raise --questions if there are."
    )
