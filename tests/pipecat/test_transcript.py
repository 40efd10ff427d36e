"""Transcripts of a turn."""

from hypothesis import given
from hypothesis import strategies as st

from hotmem.pipecat.transcript import SpeakerSegment, Transcript, normalized_words


def test_transcripts_of_the_same_speech_have_the_same_words() -> None:
    assert normalized_words("hey whats um my dogs name") == normalized_words(
        "Hey — what's my dog's name?"
    )
    assert normalized_words("what's my dog's name") != normalized_words("what's my cat's name")
    assert normalized_words("uh … um") == ()


@given(st.text(), st.sampled_from([" ", ". ", "! ", " um, "]))
def test_case_and_punctuation_are_ignored(text: str, joint: str) -> None:
    assert normalized_words(joint.join(normalized_words(text))) == normalized_words(text)


def test_finals_are_appended_and_interims_replaced() -> None:
    heard = Transcript()
    heard.set_interim("what is")
    heard.set_interim("what is my")
    assert heard.text == "what is my"
    heard.add_final("What is my dog", "ana")
    heard.set_interim("called and")
    assert heard.text == "What is my dog called and"
    heard.add_final("called?", "ana")
    assert heard.end_turn("What is my dog called?") == (
        SpeakerSegment("ana", "What is my dog called?"),
    )
    assert heard.text == ""


def test_a_turn_of_two_speakers_is_split() -> None:
    heard = Transcript()
    heard.add_final("I like tea.", "ana")
    heard.add_final("And biscuits.", "ana")
    heard.add_final("I like coffee.", "ben")
    assert heard.end_turn("I like tea. And biscuits. I like coffee.") == (
        SpeakerSegment("ana", "I like tea. And biscuits."),
        SpeakerSegment("ben", "I like coffee."),
    )


def test_text_without_final_transcripts_has_no_speaker() -> None:
    heard = Transcript()
    heard.add_final("I like tea.", "ana")
    assert heard.end_turn("I like coffee.") == (SpeakerSegment(None, "I like coffee."),)
    assert heard.text == ""
    assert Transcript().end_turn("typed") == (SpeakerSegment(None, "typed"),)


def test_transcripts_before_and_after_the_turn_are_excluded() -> None:
    heard = Transcript()
    heard.add_final("While you were muted.", "ana")
    heard.add_final("I like mango.", "mia")
    heard.add_final("And what", "ana")
    assert heard.end_turn("I like mango.") == (SpeakerSegment("mia", "I like mango."),)
    assert heard.text == "And what"


def test_er_is_not_a_hesitation() -> None:
    assert normalized_words("What happened in the ER?") != normalized_words("What happened in the?")


def test_a_long_turn_is_bounded() -> None:
    heard = Transcript()
    for number in range(1000):
        heard.add_final(f"number {number}", "ana")
    text = " ".join(f"number {number}" for number in range(1000))
    assert heard.end_turn(text) == (SpeakerSegment(None, text),)
