"""What is asked about the record, in any wording, and what only sounds like it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.analysis.off_record import RecordRequest, Scope, record_request
from hotmem.commands import Commands

TOLD = json.loads(Path(__file__).with_name("off_record.json").read_text())
"""Conversations by another hand, and which of their turns may stay."""

OFF = (
    "This is off the record.",
    "Let's go off the record.",
    "Can we talk off the record for a moment?",
    "Please keep this off the record",
    "I want to tell you something off the record.",
    "Don't store anything I say now.",
    "Don't remember this.",
    "stop recording please",
    "um could you uh stop saving things for now",
    "you don't need to remember this next part",
    "pause your memory please",
    "off the record",
    "from now on don't save anything",
    "nothing i say now gets stored ok",
    "lets keep this conversation off the record",
)
BEFORE = (
    "Actually don't keep that.",
    "please forget what I just said",
    "don't remember that",
    "hey um dont save that please",
    "Can you delete that from your memory?",
    "Delete my last sentence please.",
    "that was off the record",
    "forget i said that",
    "pretend i never said that",
    "You shouldn't remember that.",
    "I'd rather you didn't save that.",
    "I don't want you to keep that.",
    "wipe that from your notes",
    "please do not store that anywhere",
    "scratch that last bit",
    "no need to remember that",
    "could you not save that",
    "That shouldn't be saved.",
    "i didn't mean to tell you that please don't keep it",
)
TURN = (
    "I'm pregnant, but don't tell anyone and don't write it down.",
    "My salary is sixty thousand, off the record.",
    "don't save this but i have cancer",
    "I have cancer, please don't remember that",
    "i'd prefer you didn't store this my wife left me",
    "my pin is 1234 you mustn't remember that",
    "Between you and me, my boss is awful.",
    "I cheated on the exam and I don't want you to remember it.",
    "keep this out of your memory but i failed",
    "I'm ill. This should not be recorded.",
    "not for your notes but i hate my job",
    "My father drinks. You never heard that from me.",
)
ON = (
    "Let's go back on the record.",
    "back on record",
    "start recording again please",
    "ok we're back on the record",
    "You can take notes again.",
    "okay you can remember things again",
    "you can start saving again",
    "turn your memory back on",
    "um okay you can start remembering stuff again thanks",
    "we're on the record again",
    "That's it for the private part.",
)
NONE = (
    "What do you know about Lisbon?",
    "I can't remember what I told you about my sister.",
    "My boss told me off the record that he leaves.",
    "I told her off the record.",
    "What does off the record mean?",
    "I don't remember anything from school.",
    "I don't remember that.",
    "Don't forget to save the document.",
    "don't forget that i have a dentist appointment",
    "Please don't let me forget that.",
    "I never keep my receipts.",
    "She doesn't want to remember that day.",
    "My record player is off.",
    "I need to stop saving for the house.",
    "I want to stop recording my podcast.",
    "He said the interview was recorded again.",
    "Turn off the lights.",
    "turn the music off please",
    "don't put that in the oven",
    "don't write that letter yet",
    "Don't save that file.",
    "My doctor keeps records of everything.",
    "I took notes in the meeting.",
    "Remember this for me.",
    "Save that please.",
    "can you make a note of that",
    "Why don't you remember that?",
    "Did you save that?",
    "You don't remember that, do you?",
    "Between us we have three kids.",
    "Don't keep me waiting.",
    "We don't keep milk in the house.",
    "Don't worry about it.",
    "never mind",
    "I broke the school record in swimming.",
    "the police took his record",
    "Could you delete the second item from my list?",
    "Don't record the match tonight, I'll watch it live.",
    "How do I stop recording on my phone?",
    "I've stopped taking notes in class.",
    "My memory is not what it was.",
    "I don't want to talk about it.",
    "I didn't save enough money this year.",
    "no notes came with the parcel",
    "I don't keep anything in the car.",
    "They never wrote it down.",
    "My secret ingredient is nutmeg.",
    "He lost his notes.",
    "I'll be off the grid for a week.",
    "please remember what i just said",
    "Delete the alarm.",
    "It's not for me.",
    "I always forget what I just said.",
    "I forgot what I just said.",
    "did you hear what i just said",
    "Could you repeat what I just said?",
    "Remember what I'm about to say.",
    "Keep that in mind.",
    "Please keep that in your notes.",
    "we talked off the record with the journalist",
    "he asked me to keep it off the record",
    "the concert was not recorded",
    "my computer didnt save it",
    "i did not write it down",
    "Don't take notes with a pencil.",
    "I can't save anything this month.",
    "I need to start saving money.",
    "I want to start saving",
    "Don't start recording again.",
    "until i say we are back on the record",
    "",
)


@pytest.mark.parametrize(("scope", "said"), [(scope, said) for scope, all_of in zip(Scope, (TURN, BEFORE, OFF, ON), strict=True) for said in all_of])
def test_a_request_is_heard_with_its_scope(scope: Scope, said: str) -> None:
    for written in (said, said.lower().strip(".?!"), f"um {said}"):
        asked = record_request(written)
        assert asked is not None and asked.scope is scope, written


@pytest.mark.parametrize("said", NONE)
def test_what_only_sounds_like_one_is_none(said: str) -> None:
    assert record_request(said) is None


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case["turns"][-1])
def test_what_is_not_to_be_kept_is_not(case: dict[str, Any]) -> None:
    commands, kept = Commands("ana", "monday"), dict[str, bool]()
    for number, text in enumerate(case["turns"]):
        for gone in commands.hear(number, text):
            kept[gone] = False
        kept[str(number)] = commands.keeps
        if commands.keeps:
            commands.noted(str(number))
    assert list(kept.values()) == case["kept"]


def test_how_much_is_taken_back_is_told() -> None:
    assert record_request("Please don't save those last two things I said.") == RecordRequest(Scope.BEFORE, 2)
    assert record_request("forget the last thing i said") == RecordRequest(Scope.BEFORE, 1)


def test_what_follows_on_the_record_is_told() -> None:
    assert record_request("OK, back on the record, I bought a kite.") == RecordRequest(Scope.ON, tells=True)
    assert record_request("He drinks. OK, back on the record.") == RecordRequest(Scope.ON)


def test_a_request_stands_at_either_end_of_a_long_turn() -> None:
    tale = "and then we walked on along the river until the old bridge " * 20
    for said in (f"Don't save this. {tale}", f"{tale}. Please don't keep that."):
        assert record_request(said) == RecordRequest(Scope.TURN)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_words_can_be_looked_at(said: str) -> None:
    record_request(said)
