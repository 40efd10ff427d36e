"""What was heard of a turn."""

from hypothesis import given
from hypothesis import strategies as st

from hotmem.pipecat.transcript import Piece, Transcript, content


def test_the_same_speech_written_twice_has_the_same_words() -> None:
    assert content("hey whats um my dogs name") == content("Hey — what's my dog's name?")
    assert content("what's my dog's name") != content("what's my cat's name")
    assert content("uh … um") == ()


@given(st.text(), st.sampled_from([" ", ". ", "! ", " um, "]))
def test_case_and_punctuation_never_matter(text: str, joint: str) -> None:
    assert content(joint.join(content(text))) == content(text)


def test_finals_follow_each_other_and_interims_take_each_others_place() -> None:
    heard = Transcript()
    heard.guess("what is")
    heard.guess("what is my")
    assert heard.text == "what is my"
    heard.hear("What is my dog", "ana")
    heard.guess("called and")
    assert heard.text == "What is my dog called and"
    heard.hear("called?", "ana")
    assert heard.turn("What is my dog called?") == (Piece("ana", "What is my dog called?"),)
    assert heard.text == ""


def test_a_turn_of_two_is_cut_up_by_who_spoke() -> None:
    heard = Transcript()
    heard.hear("I like tea.", "ana")
    heard.hear("And biscuits.", "ana")
    heard.hear("I like coffee.", "ben")
    assert heard.turn("I like tea. And biscuits. I like coffee.") == (
        Piece("ana", "I like tea. And biscuits."),
        Piece("ben", "I like coffee."),
    )


def test_words_that_were_not_heard_here_have_no_speaker() -> None:
    heard = Transcript()
    heard.hear("I like tea.", "ana")
    assert heard.turn("I like coffee.") == (Piece(None, "I like coffee."),)
    assert heard.text == ""
    assert Transcript().turn("typed") == (Piece(None, "typed"),)


def test_what_the_bot_was_deaf_to_and_what_comes_next_stay_apart() -> None:
    heard = Transcript()
    heard.hear("While you were muted.", "ana")
    heard.hear("I like mango.", "mia")
    heard.hear("And what", "ana")
    assert heard.turn("I like mango.") == (Piece("mia", "I like mango."),)
    assert heard.text == "And what"


def test_a_room_has_its_emergencies() -> None:
    assert content("What happened in the ER?") != content("What happened in the?")


def test_an_endless_turn_stays_bounded() -> None:
    heard = Transcript()
    for number in range(1000):
        heard.hear(f"number {number}", "ana")
    text = " ".join(f"number {number}" for number in range(1000))
    assert heard.turn(text) == (Piece(None, text),)
