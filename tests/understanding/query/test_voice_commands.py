"""Voice commands, and utterances that only sound alike."""

from hypothesis import given
from hypothesis import strategies as st

from hotmem.understanding.query.commands import Command, CommandKind
from hotmem.understanding.query.voice_commands import find_command
from tests.scored import scored


@scored(
    ("said", "command"),
    [
        ("Remember that I'm allergic to nuts.", Command(CommandKind.REMEMBER)),
        ("Please don't forget to water the ferns.", Command(CommandKind.REMEMBER)),
        ("hey can you make a note that the rent is due", Command(CommandKind.REMEMBER)),
        ("Forget that.", Command(CommandKind.FORGET_LAST)),
        ("uh forget that please", Command(CommandKind.FORGET_LAST)),
        ("please forget what I just said", Command(CommandKind.SKIP_LAST)),
        ("I am ill, please don't save that.", Command(CommandKind.SKIP_TURN)),
        ("um can you uh forget everything about tom", Command(CommandKind.FORGET_ABOUT, "tom")),
        ("Forget everything about my ex.", Command(CommandKind.FORGET_ABOUT, "ex")),
        (
            "Forget that I am allergic to hazelnuts.",
            Command(CommandKind.FORGET_FACT, "I am allergic to hazelnuts"),
        ),
        (
            "could you please forget that my sister is pregnant",
            Command(CommandKind.FORGET_FACT, "my sister is pregnant"),
        ),
        (
            "Forget that my son has asthma, that was wrong.",
            Command(CommandKind.FORGET_FACT, "my son has asthma"),
        ),
        (
            "Could you delete everything you know about Tom Miller, please?",
            Command(CommandKind.FORGET_ABOUT, "Tom Miller"),
        ),
        (
            "delete whatever i told you about the clinic",
            Command(CommandKind.FORGET_ABOUT, "clinic"),
        ),
        ("Forget everything you know about me.", Command(CommandKind.FORGET_ALL)),
        ("Delete all my data now.", Command(CommandKind.FORGET_ALL)),
        ("Delete all of my data.", Command(CommandKind.FORGET_ALL)),
        ("Forget all of that.", Command(CommandKind.FORGET_LAST)),
        ("Forget everything.", Command(CommandKind.FORGET_ALL)),
        ("Undo.", Command(CommandKind.UNDO)),
        ("oh no, undo that please", Command(CommandKind.UNDO)),
        ("Bring it back!", Command(CommandKind.UNDO)),
        ("I want that back.", Command(CommandKind.UNDO)),
        ("Can you bring back what you deleted?", Command(CommandKind.UNDO)),
        ("What do you know about me?", Command(CommandKind.LIST_ALL)),
        ("tell me everything you remember about me", Command(CommandKind.LIST_ALL)),
        ("How do you know that?", Command(CommandKind.EXPLAIN_SOURCE)),
        ("wait, who told you that?", Command(CommandKind.EXPLAIN_SOURCE)),
        ("Don't remember this.", Command(CommandKind.OFF_RECORD)),
        ("This is off the record.", Command(CommandKind.OFF_RECORD)),
        ("Let's go off the record.", Command(CommandKind.OFF_RECORD)),
        ("Can we talk off the record for a moment?", Command(CommandKind.OFF_RECORD)),
        ("Please keep this off the record", Command(CommandKind.OFF_RECORD)),
        ("I want to tell you something off the record.", Command(CommandKind.OFF_RECORD)),
        ("Don't store anything I say now.", Command(CommandKind.OFF_RECORD)),
        ("Let's go back on the record.", Command(CommandKind.ON_RECORD)),
        ("back on record", Command(CommandKind.ON_RECORD)),
        ("start recording again please", Command(CommandKind.ON_RECORD)),
        ("ok we're back on the record", Command(CommandKind.ON_RECORD)),
        ("You can take notes again.", Command(CommandKind.ON_RECORD)),
    ],
)
def test_command_is_detected(said: str, command: Command) -> None:
    assert find_command(said) == command


@scored(
    "said",
    [
        "What do you know about Lisbon?",
        "Do you remember my dog's name?",
        "Can you remember that you recommended a book?",
        "I always forget everything about maths.",
        "I forgot that.",
        "Forget about it.",
        "Never mind, forget it.",
        "How do you know when bread is done?",
        "My record player is off.",
        "He said the interview was recorded again.",
        "My boss told me off the record that he leaves.",
        "I told her off the record.",
        "What does off the record mean?",
        "I don't remember anything from school.",
        "Forget that I asked.",
        "Forget that the meeting is at five, it is at six.",
        "Forget that he was rude, what matters is the money.",
        "I always forget that I have a meeting on Mondays.",
        "Never forget that you are loved.",
        "Delete the second item from my shopping list.",
        "I can't remember what I told you about my sister.",
        "",
    ],
    floor=1.0,
)
def test_similar_utterances_are_not_commands(said: str) -> None:
    assert find_command(said) is None


@given(st.text(max_size=200))
def test_any_text_is_accepted(said: str) -> None:
    found = find_command(said)
    assert found is None or (found.kind is CommandKind.FORGET_ABOUT) is bool(found.about)
