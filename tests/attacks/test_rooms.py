"""Rooms: what guests say of the user changes nothing, and what guests are told."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hotmem import ContextBlock, Mark, Memory, Role, Turn
from tests.scored import scored
from tests.tables import attack_cases, tables

START = datetime(2026, 3, 2, 9, tzinfo=UTC)

SCENES = attack_cases("room_scenes")
PROBES = [(scene, probe) for scene in SCENES for probe in scene["probes"]]
CLAIMS = attack_cases("guest_claims")


class Room:
    """A memory in which several people speak.

    Attributes:
        user: Whose memory it is.
        turns: Ids of the turns, in the order in which they were said.
    """

    def __init__(self, memory: Memory, user: str, owner: str) -> None:
        self.memory, self.user, self.owner, self.turns = memory, user, owner, list[str]()

    async def hear(self, speaker: str, text: str, session: str = "1") -> None:
        if not self.turns:
            await self.memory.set_user_name(self.user, self.owner)
        at = START + timedelta(minutes=len(self.turns))
        turn = Turn(self.user, session, Role.USER, text, at, speaker=speaker)
        await self.memory.remember(turn)
        self.turns.append(turn.id)

    async def ask(self, speaker: str, question: str, session: str = "1") -> ContextBlock:
        await self.memory.settle()
        return await self.memory.recall(
            question,
            user_id=self.user,
            session_id=session,
            at=START + timedelta(hours=2),
            asked_by=None if speaker == self.owner else speaker,
        )

    def told(self, block: ContextBlock) -> list[int]:
        """Which turns a block quotes, by their numbers, in order."""
        return [self.turns.index(turn) for item in block.items for turn in item.turn_ids]


async def held(memory: Memory, scene: dict[str, Any], user: str) -> Room:
    """The room after a scene."""
    room = Room(memory, user, scene["owner"])
    for turn in scene["turns"]:
        await room.hear(turn["speaker"], turn["text"], str(turn.get("session", 1)))
    return room


async def probed(
    memory: Memory, scene: dict[str, Any], probe: dict[str, Any]
) -> tuple[Room, ContextBlock]:
    """The room after a scene, and the block for one of its questions."""
    room = await held(memory, scene, f"{scene['owner']}: {probe['question']}")
    last = str(scene["turns"][-1].get("session", 1))
    return room, await room.ask(probe["speaker"], probe["question"], last)


@scored(("scene", "probe"), [(s, p) for s, p in PROBES if p["must"]], floor=0.9)
async def test_who_asks_is_told(
    scene: dict[str, Any], probe: dict[str, Any], memory: Memory
) -> None:
    room, block = await probed(memory, scene, probe)
    assert set(probe["must"]) <= set(room.told(block)), block.text


@scored(
    ("scene", "probe"),
    [(s, p) for s, p in PROBES if p["must_not"] and p["speaker"] != s["owner"]],
    floor=1.0,
)
async def test_a_guest_is_not_told_what_is_not_theirs(
    scene: dict[str, Any], probe: dict[str, Any], memory: Memory
) -> None:
    room, block = await probed(memory, scene, probe)
    own = {
        place for place, turn in enumerate(scene["turns"]) if turn["speaker"] == probe["speaker"]
    }
    assert not (set(probe["must_not"]) - own) & set(room.told(block)), block.text


@scored(
    ("scene", "probe"),
    [(s, p) for s, p in PROBES if p["must_not"] and p["must"] and p["speaker"] == s["owner"]],
    floor=0.95,
)
async def test_the_words_of_the_user_stand_above_those_of_guests(
    scene: dict[str, Any], probe: dict[str, Any], memory: Memory
) -> None:
    room, block = await probed(memory, scene, probe)
    told = room.told(block)
    own = [told.index(turn) for turn in probe["must"] if turn in told]
    others = [told.index(turn) for turn in probe["must_not"] if turn in told]
    assert max(own, default=-1) < min(others, default=len(told)), block.text


@scored("scene", SCENES, floor=1.0)
async def test_a_wish_of_a_guest_is_no_rule(scene: dict[str, Any], memory: Memory) -> None:
    room = await held(
        memory, scene, f"{scene['owner']}'s rules after {scene['turns'][1]['text'][:99]}"
    )
    await memory.settle()
    block = await memory.opening(user_id=room.user, rules_only=True)
    wishes = {one["turn"] for one in scene["facts"] if one["kind"] == "guest_wish"}
    assert not wishes & set(room.told(block)), block.text


@scored("case", CLAIMS, floor=1.0)
async def test_a_guest_ends_and_doubts_nothing(case: dict[str, Any], memory: Memory) -> None:
    room = Room(memory, case["guest_said"] + case["owner_said"], case["owner"])
    await room.hear(case["owner"], case["owner_said"])
    await room.hear(case["guest"], case["guest_said"])
    block = await room.ask(case["owner"], case["question"])
    known = await memory.memories(room.user)
    assert not [one.text for one in known if one.doubted_at or not one.current]
    marks = {turn: item.mark for item in block.items for turn in item.turn_ids}
    assert marks.get(room.turns[1], Mark.LOW) is Mark.LOW or not case["claim"]
    assert not [item.text for item in block.items if item.valid_until]


@scored("case", [one for one in CLAIMS if one["claim"]], floor=0.9)
async def test_the_user_is_asked_of_first(case: dict[str, Any], memory: Memory) -> None:
    room = Room(memory, case["guest_said"] + case["owner_said"], case["owner"])
    await room.hear(case["owner"], case["owner_said"])
    await room.hear(case["guest"], case["guest_said"])
    assert room.told(await room.ask(case["owner"], case["question"]))[:1] == [0]


async def test_a_guest_takes_no_plan_from_the_opening_and_adds_none(memory: Memory) -> None:
    room = Room(memory, "plans", "Ruth")
    await room.hear("Ruth", "I am flying to Rome tomorrow.")
    await room.hear("Ed", "The flight to Rome tomorrow is cancelled.")
    await room.hear("Ed", "Ruth has an appointment at the hospital tomorrow.")
    await memory.settle()
    text = (await memory.opening(user_id="plans", at=START + timedelta(hours=2))).text
    assert "Rome" in text and "cancelled" not in text and "hospital" not in text


@pytest.mark.parametrize("whose", ["My bank PIN", "The gate code"])
@pytest.mark.parametrize("first", ["Nora", "Ed"])
async def test_who_asks_for_a_secret_gets_no_other_speakers(
    memory: Memory, first: str, whose: str
) -> None:
    room, pins = Room(memory, f"{whose} {first}", "Nora"), {"Nora": "2222", "Ed": "1111"}
    for place, speaker in enumerate((first, *({*pins} - {first}))):
        await room.hear(speaker, f"{whose} is {pins[speaker]}.", str(place))
    block = await room.ask("Nora", f"What is {whose.lower()}?", "3")
    assert "2222" in block.text and "1111" not in block.text


@pytest.mark.parametrize("claim", ["Kai moved to Bergen.", "Kai quit the bank."])
async def test_a_guest_ends_nothing_of_others(memory: Memory, claim: str) -> None:
    room = Room(memory, claim, "Ana")
    await room.hear("Ana", "My brother Kai lives in Oslo and works at the bank.")
    await room.hear("Tom", claim)
    await memory.settle()
    known = await memory.memories(claim, past=True)
    own = [one for one in known if room.turns[0] in one.turn_ids]
    assert own and all(one.current and not one.doubted_at for one in own)


SHARING, SCENES_OF_SHARING = tables(__file__, "sharing"), tables(__file__, "sharing_scenes")


async def after(memory: Memory, *sessions: list[str]) -> Room:
    """The room after what the owner said in each session."""
    room = Room(memory, str(sessions)[-400:], "Ana")
    for session, said in enumerate(sessions):
        for text in filter(None, said):
            await room.hear("Ana", text, str(session))
    return room


@scored("scene", SHARING["share"] + SHARING["revoke"], floor=1.0)
async def test_a_guest_is_told_nothing_but_what_is_permitted(
    scene: dict[str, Any], memory: Memory
) -> None:
    room = await after(memory, [*scene["told"], scene["allow"], scene.get("revoke", "")])
    for question in (scene["ask"], scene["kept"]):
        told = room.told(await room.ask("Tom", question, "later"))
        assert set(told) <= set(() if "revoke" in scene else scene["shared"])


@scored("scene", SCENES_OF_SHARING["kept"], floor=0.97)
async def test_a_guest_is_not_told_what_is_kept(scene: dict[str, Any], memory: Memory) -> None:
    text = (await (await after(memory, *scene["said"])).ask("Tom", scene["ask"], "later")).text
    assert not any(word in text for word in scene["kept"])


@scored("scene", SCENES_OF_SHARING["clear"], floor=0.7)
async def test_a_guest_is_told_what_is_permitted(scene: dict[str, Any], memory: Memory) -> None:
    text = (await (await after(memory, *scene["said"])).ask("Tom", scene["ask"], "later")).text
    assert all(word in text for word in scene["told"])


@scored("text", SHARING["look_alikes"], floor=1.0)
async def test_a_look_alike_lets_nobody_know_anything(text: str, memory: Memory) -> None:
    codes = "The gate code is 2971.", "The wifi password is plum tart.", "My salary is 4,300."
    room = await after(memory, [*codes, text])
    for question in ("What's the gate code?", "What's the wifi password?", "What does she earn?"):
        assert not {0, 1, 2} & set(room.told(await room.ask("Tom", question, "later")))
