"""Requests not to store something in any wording, and utterances that only sound alike."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.pipecat.turn_retention import TurnRetention
from hotmem.understanding.query.off_record import RecordRequest, Scope, find_record_request
from tests.scored import scored

TOLD = json.loads(Path(__file__).with_name("off_record.json").read_text())
"""Conversations from a separate author, and which of their turns may be stored."""

OFF = (
    "I'd like this next bit to stay private.",
    "Can you please not record the next part?",
    "Hey, don't keep a record of this conversation.",
    "turn recording off please",
    "Could you switch off your memory for a moment?",
    "Don't log anything for the next few minutes.",
    "I don't want you to remember this.",
    "i dont want this remembered",
    "please forget everything i'm about to tell you",
    "Nothing of this should be remembered.",
    "let's keep this between us",
    "this stays between us",
    "Don't make any notes right now.",
    "just listen and don't remember anything",
    "no recording for a minute",
    "can we go off record for a sec",
    "Whatever I say next, don't store it.",
    "this part is not to be remembered",
    "hold off on taking notes for a bit",
    "Stop saving what I say.",
    "stop remembering what i tell you",
    "You're not to write any of this down.",
    "Can I tell you something without it being stored?",
    "can i tell you something off the record",
    "I have something to tell you, but don't write it down.",
    "what i tell you now must not be saved",
    "For the next few minutes, don't remember anything I say.",
    "please go off the record",
    "Private mode please.",
    "incognito mode",
    "don't memorize this",
    "do me a favour and don't save this",
    "this is just between you and me",
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
    "Don't store that, please.",
    "Don't remember what I just said.",
    "oh please don't keep that",
    "delete that from your notes",
    "Could you please forget the last thing I said?",
    "I didn't mean to say that. Forget it.",
    "Actually, I'd prefer that you don't keep that.",
    "hey can you not remember that",
    "No, don't save that.",
    "Please remove what I just told you from your memory.",
    "Take that out of your notes.",
    "can we strike that from the record",
    "strike that from the record",
    "Leave that out of your notes.",
    "that was private don't keep it",
    "that's not for your notes",
    "that one should stay off the record",
    "Let's keep that off the record.",
    "please unhear that",
    "erase the last bit",
    "i take that back don't store it",
    "forget i ever said anything",
    "I shouldn't have mentioned that, please delete it.",
    "don't hold on to that",
    "could you drop that last part",
    "Please don't keep what I told you just now.",
    "i'd like you to forget what i just told you",
    "um that last thing don't keep it",
    "that last thing i said delete it",
    "can you wipe the last thing i said",
    "Don't put that in your notes.",
    "I'd rather that wasn't saved.",
    "you can forget that last bit",
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
    "I got a tattoo, but please leave that out of your notes.",
    "My code is 4411, please forget that afterwards.",
    "i slept with my ex you can't save this",
    "I'm broke, and this is not to be stored.",
    "My wife has MS, and that's just between us.",
    "Don't record this: my ex lives at number nine.",
    "not to be saved but i'm moving out",
    "please keep this to yourself i'm leaving my job",
    "I voted for them, but that's not for the record.",
    "i have diabetes please don't make a note of that",
    "My mum's ill. I'd rather you didn't keep that.",
    "I'm in debt. That's private, don't note it down.",
    "I stole it. Don't tell anyone and don't log it.",
    "you're not to remember this but i'm adopted",
    "Without recording it, tell me if aspirin is safe in pregnancy.",
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
    "OK, you can remember things again.",
    "you can go back to saving now",
    "Okay, recording back on.",
    "We can go back on the record now.",
    "let's go back on record",
    "okay start taking notes again",
    "You may store things again.",
    "memory back on please",
    "turn recording back on",
    "you can write things down again",
    "alright you can record again",
    "okay, that's the end of the off the record bit",
    "remember everything again from now on",
    "okay you can keep notes again",
    "Feel free to remember things again.",
    "you're allowed to remember again",
    "okay now you can remember stuff",
    "you can save what i say again",
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
    "Please keep this in mind.",
    "Don't forget that I'm vegetarian.",
    "Did you know the record for the marathon is two hours?",
    "She keeps records for a living.",
    "I don't remember where I put my keys.",
    "Don't save me a seat.",
    "Put that on my shopping list.",
    "I keep forgetting my password.",
    "My sister can't keep a secret.",
    "He doesn't take notes in class.",
    "I couldn't save the file.",
    "Why did you save that?",
    "Don't let me forget my umbrella.",
    "You should remember this.",
    "I want you to remember this.",
    "Take a note of this please.",
    "Please store my address.",
    "I don't store onions next to potatoes.",
    "we stopped recording the podcast in may",
    "they don't write things down at work",
    "Don't write to him.",
    "my band stopped recording",
    "I wrote it down so I don't forget.",
    "He asked me not to tell anyone.",
    "The lawyer spoke off the record to the press.",
    "What's on my record?",
    "I love vinyl records.",
    "Never mind that.",
    "Erase the whiteboard is my job on Fridays.",
    "Don't delete that.",
    "don't forget what i just said",
    "Please don't stop taking notes.",
    "I'd like to save money for a trip.",
    "Keep the change.",
    "Can you keep a secret?",
    "I never told you that my dog is called Rex.",
    "I never said that.",
    "My memory is awful, please remember this for me.",
    "He never wrote anything down.",
    "I can't stop thinking about it.",
    "She told me not to keep that.",
    "the recording is off",
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


@scored(
    ("scope", "said"),
    [
        (scope, said)
        for scope, all_of in zip(Scope, (TURN, BEFORE, OFF, ON), strict=True)
        for said in all_of
    ],
)
def test_request_with_its_scope(scope: Scope, said: str) -> None:
    for written in (said, said.lower().strip(".?!"), f"um {said}"):
        asked = find_record_request(written)
        assert asked is not None and asked.scope is scope, written


@scored("said", NONE, floor=1.0)
def test_similar_utterances_are_not_requests(said: str) -> None:
    assert find_record_request(said) is None


@scored("case", TOLD)
def test_separately_written_conversations(case: dict[str, Any]) -> None:
    retention, kept = TurnRetention(), dict[str, bool]()
    for number, text in enumerate(case["turns"]):
        for gone in retention.end_turn(number, text):
            kept[gone] = False
        kept[str(number)] = retention.stores_turn
        if retention.stores_turn:
            retention.add_stored(str(number))
    assert list(kept.values()) == case["kept"]


def test_number_of_withdrawn_turns() -> None:
    assert find_record_request("Please don't save those last two things I said.") == RecordRequest(
        Scope.BEFORE, 2
    )
    assert find_record_request("forget the last thing i said") == RecordRequest(Scope.BEFORE, 1)


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
    assert found is None or found.scope is not Scope.ON


def test_content_after_resuming() -> None:
    assert find_record_request("OK, back on the record, I bought a kite.") == RecordRequest(
        Scope.ON, continues=True
    )
    assert find_record_request("He drinks. OK, back on the record.") == RecordRequest(Scope.ON)


def test_request_at_either_end_of_a_long_turn() -> None:
    tale = "and then we walked on along the river until the old bridge " * 20
    for said in (f"Don't save this. {tale}", f"{tale}. Please don't keep that."):
        assert find_record_request(said) == RecordRequest(Scope.TURN)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_accepted(said: str) -> None:
    find_record_request(said)
