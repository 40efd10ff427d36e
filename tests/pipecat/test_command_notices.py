"""The sources that a bot names when the user asks how it knows something."""

from dataclasses import replace

import pytest

from hotmem.pipecat.voice_commands import sources
from hotmem.types import Item, Mark
from tests.ranking.statements import QUOTE

BEST = replace(QUOTE, relevance=0.3)


@pytest.mark.parametrize(
    "other",
    [
        replace(BEST, text="When does the ferry leave?", relevance=0.9),
        replace(BEST, text="when does the ferry leave", relevance=0.9),
        replace(BEST, text="The pin of my card is 1234.", relevance=0.4),
        replace(BEST, text="The bus was late.", mark=Mark.LOW),
    ],
)
def test_questions_secrets_and_low_marks_are_not_sources(other: Item) -> None:
    notice = sources([other, BEST])
    assert "The ferry leaves at nine." in notice
    assert other.text not in notice


def test_a_low_mark_is_a_source_if_there_is_no_better_one() -> None:
    doubtful = replace(BEST, mark=Mark.LOW)
    assert doubtful.text in sources([doubtful])


def test_questions_and_secrets_alone_are_not_sources() -> None:
    assert "Nothing from earlier" in sources(
        [replace(BEST, text="The pin of my card is 1234."), replace(BEST, text="Is it late?")]
    )
