"""Whether times are past or future; the perfect and the past tense may refer to plans."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.understanding.facts.time_direction import resolve_times
from tests.conversation import read_facts
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

PLANS = tables(__file__, "plans")


def read(text: str, said_at: datetime, language: Language) -> list[str]:
    """The days of events, from the day of the statement on."""
    found = read_facts(language, text, at=said_at)
    return sorted(
        {
            day
            for one in found.event_times
            if (day := f"{one.interval.start:%Y-%m-%d}") >= f"{said_at:%Y-%m-%d}"
        }
    )


@scored("case", PLANS)
def test_future_events(case: dict[str, str | None], language: Language) -> None:
    said_at = datetime.fromisoformat(str(case["said_at"])).replace(tzinfo=UTC)
    assert read(str(case["text"]), said_at, language) == (
        [case["starts"]] if case["starts"] else []
    )


@scored(("text", "times"), CASES["a_month_in_the_place_of_a_name_is_no_time"], floor=0.85)
def test_a_month_in_the_place_of_a_name_is_no_time(
    text: str, times: list[str], language: Language
) -> None:
    doc = language.parse([text])[0]
    found = resolve_times(doc, datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert [text[one.start : one.stop].rstrip(".") for one in found] == times


@scored(("text", "times"), CASES["what_is_moved_has_its_new_time_only"])
def test_what_is_moved_has_its_new_time_only(
    text: str, times: list[str], language: Language
) -> None:
    found = resolve_times(language.parse([text])[0], datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert [text[one.start : one.stop].rstrip(".") for one in found] == times


@scored(("text", "day"), CASES["a_cancelled_event_was_ahead"], floor=1.0)
def test_a_cancelled_event_was_ahead(text: str, day: str, language: Language) -> None:
    (found,) = resolve_times(language.parse([text])[0], datetime(2026, 2, 10, 9, tzinfo=UTC))
    assert f"{found.interval.start:%Y-%m-%d}" == day


@scored(("said", "months"), CASES["an_infinitive_takes_the_tense_of_the_verb"], floor=0.85)
def test_an_infinitive_takes_the_tense_of_the_verb_that_governs_it(
    said: str, months: list[str], language: Language
) -> None:
    (doc,) = language.parse([said])
    found = resolve_times(doc, datetime(2026, 11, 2, 10, tzinfo=UTC))
    assert [f"{one.interval.start:%Y-%m}" for one in found] == months
