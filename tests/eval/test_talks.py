"""Talks in plain text: what a file says, and what is refused."""

from pathlib import Path

import pytest

from eval.datasets import talks
from hotmem import InvalidInput
from hotmem.types import Role

TALK = """# ana and her assistant
## 2026-03-04
1 Ana: I handed in my notice yesterday
2 Bot: Congratulations!
## 2026-03-11
3 Ana: the flat on Elm Road has no lift
ask 3: Which flat has no lift?
other 1,3: What has changed for her?
remark 3: The fridge comes tomorrow.

# another
## 2026-03-04
1 Leo: hello
"""


def test_talks_are_read_with_their_sessions_speakers_and_questions(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text(TALK)
    first, second = talks.load(tmp_path)
    assert [[turn.text for turn in session.turns] for session in first.sessions] == [
        ["I handed in my notice yesterday", "Congratulations!"],
        ["the flat on Elm Road has no lift"],
    ]
    assert [(turn.speaker, turn.role) for turn in first.turns] == [
        ("Ana", Role.USER),
        (None, Role.ASSISTANT),
        ("Ana", Role.USER),
    ]
    assert [(one.category, one.evidence) for one in first.questions] == [
        ("echo", ("3",)),
        ("paraphrase", ("1", "3")),
        ("implication", ("3",)),
    ]
    assert first.questions[0].asked_at > first.turns[-1].spoken_at > first.turns[0].spoken_at
    assert (len(second.turns), second.questions) == (1, ())


@pytest.mark.parametrize(
    ("line", "told"), [("hello", "has the line 'hello'"), ("ask 9: Who?", "asks for the turns 9")]
)
def test_a_line_of_another_form_is_refused_with_its_talk(
    tmp_path: Path, line: str, told: str
) -> None:
    (tmp_path / "some.txt").write_text(f"# one\n## 2026-03-04\n1 Leo: hello\n{line}\n")
    with pytest.raises(InvalidInput, match=f"some-0 {told}"):
        list(talks.load(tmp_path))
