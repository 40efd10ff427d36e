"""Requests not to store something, in dialogues, and utterances that only sound like one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.models import load_encoder
from hotmem.options import ModelOptions
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.query.commands import NOT_STORED, Command, CommandKind
from hotmem.understanding.query.off_record import find_record_request
from hotmem.understanding.turn_retention import TurnRetention
from tests.scored import scored
from tests.tables import attack_cases, tables


def stored(turns: list[dict[str, str]], find: CommandFinder | None = None) -> list[int]:
    """Return the indexes of the stored turns, by the commands that `find` or the rules find."""
    retention, kept, number = TurnRetention(find), set[str](), 0
    for place, turn in enumerate(turns):
        if turn["who"] == "user":
            number += 1
            kept -= set(retention.end_turn(number, turn["say"]))
            keeps, replies_to = retention.stores_turn, None
        else:
            keeps, replies_to = retention.stores_reply(number), number
        if keeps:
            retention.add_stored(str(place), replies_to)
            kept.add(str(place))
    return sorted(map(int, kept))


@pytest.fixture(scope="module")
def find() -> CommandFinder:
    encoder = load_encoder(ModelOptions())
    return CommandFinder(lambda: encoder)


@scored("case", [case for case in attack_cases("off_record") if case["not_kept"]], floor=0.83)
def test_turns_off_the_record_are_not_stored(case: dict[str, Any], find: CommandFinder) -> None:
    assert not set(stored(case["turns"], find)) & set(case["not_kept"])


@scored("case", [case for case in attack_cases("off_record") if not case["not_kept"]], floor=0.97)
def test_turns_that_only_sound_like_a_request_are_stored(
    case: dict[str, Any], find: CommandFinder
) -> None:
    assert len(stored(case["turns"], find)) == len(case["turns"])


EFFECTS = {
    "off": {CommandKind.OFF_RECORD, CommandKind.SKIP_TURN},
    "on": {CommandKind.ON_RECORD},
    "topic": {CommandKind.LEAVE_OUT},
}


def requests(effect: str, wording: str = "") -> list[str]:
    """Single requests with an effect, in an ordinary or an oblique wording."""
    return [
        case["text"]
        for case in attack_cases("record_requests")
        if case["effect"] == effect and wording in ("", case["wording"])
    ]


@scored("said", requests("off", "ordinary"), floor=0.86)
def test_an_ordinary_request_is_heard(said: str, find: CommandFinder) -> None:
    assert getattr(find(said), "kind", None) in EFFECTS["off"]


@scored("said", requests("off", "oblique"), floor=0.7)
def test_an_oblique_request_is_heard(said: str, find: CommandFinder) -> None:
    assert getattr(find(said), "kind", None) in EFFECTS["off"]


@scored("said", requests("none"), floor=0.98)
def test_a_look_alike_switches_nothing_off(said: str, find: CommandFinder) -> None:
    assert getattr(find(said), "kind", None) not in EFFECTS["off"]


@scored("said", requests("topic"), floor=0.93)
def test_a_request_about_one_thing_switches_nothing_off(said: str, find: CommandFinder) -> None:
    assert getattr(find(said), "kind", None) not in EFFECTS["off"]


@scored("said", requests("on"), floor=0.75)
def test_a_request_to_store_again_is_heard(said: str, find: CommandFinder) -> None:
    assert getattr(find(said), "kind", None) in EFFECTS["on"]


WORDINGS = tables(__file__, "record_wordings")
"""Wordings by what they ask for."""

KINDS = {
    "turn": {CommandKind.SKIP_TURN},
    "before": {CommandKind.SKIP_LAST, CommandKind.FORGET_LAST},
    "off": {CommandKind.OFF_RECORD},
    "on": {CommandKind.ON_RECORD},
}


@scored(("scope", "said"), [(scope, one) for scope in KINDS for one in WORDINGS[scope]], floor=0.9)
def test_request_with_its_scope(scope: str, said: str, find: CommandFinder) -> None:
    for written in (said, said.lower().strip(".?!"), f"um {said}"):
        command = find(written)
        assert command is not None and command.kind in KINDS[scope], written


@scored("said", WORDINGS["none"], floor=0.97)
def test_similar_utterances_are_not_requests(said: str, find: CommandFinder) -> None:
    assert getattr(find(said), "kind", None) not in NOT_STORED


@scored("case", attack_cases("told_off_record"))
def test_separately_written_conversations(case: dict[str, Any], find: CommandFinder) -> None:
    retention, kept = TurnRetention(find), dict[str, bool]()
    for number, text in enumerate(case["turns"]):
        for gone in retention.end_turn(number, text):
            kept[gone] = False
        kept[str(number)] = retention.stores_turn
        if retention.stores_turn:
            retention.add_stored(str(number))
    assert list(kept.values()) == case["kept"]


def test_number_of_withdrawn_turns() -> None:
    two = find_record_request("Please don't save those last two things I said.")
    assert two == Command(CommandKind.SKIP_LAST, turns=2)
    assert find_record_request("forget the last thing i said") == Command(CommandKind.SKIP_LAST)


@scored(
    "said",
    [
        "I'm not back on the record yet.",
        "Let's not be back on the record until I say so.",
        "He said we're back on the record, but that's not me talking.",
    ],
    floor=1.0,
)
def test_a_stretch_does_not_end_by_what_is_denied_or_reported(said: str) -> None:
    found = find_record_request(said)
    assert found is None or found.kind is not CommandKind.ON_RECORD


def test_content_after_resuming() -> None:
    before = find_record_request("OK, back on the record, I bought a kite.")
    assert before == Command(CommandKind.ON_RECORD, continues=True)
    after = find_record_request("He drinks. OK, back on the record.")
    assert after == Command(CommandKind.ON_RECORD)


def test_request_at_either_end_of_a_long_turn() -> None:
    tale = "and then we walked on along the river until the old bridge " * 20
    for said in (f"Don't save this. {tale}", f"{tale}. Please don't keep that."):
        assert find_record_request(said) == Command(CommandKind.SKIP_TURN)


@given(st.text(max_size=200))
def test_any_text_is_accepted(said: str) -> None:
    find_record_request(said)


def test_a_request_for_a_time_ends_with_it(find: CommandFinder) -> None:
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    for said, minutes in (
        ("I want the next ten minutes off the record.", 10),
        ("Don't store anything for half an hour.", 30),
    ):
        retention = TurnRetention(find)
        for minute, stored_then in ((0, False), (minutes - 1, False), (minutes + 1, True)):
            at = start + timedelta(minutes=minute)
            retention.end_turn(minute, said if minute == 0 else "I bought a kite.", at=at)
            assert retention.stores_turn is stored_then, (said, minute)
    retention.end_turn(0, "Off the record for a minute.", at=start)
    retention.end_turn(1, "I bought a kite.", at=start + timedelta(hours=1))
    assert not retention.stores_turn
