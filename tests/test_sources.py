"""What a bot names as its sources when the user asks how it knows."""

from dataclasses import replace

import pytest

from hotmem.pipecat.voice_commands import _sources
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
def test_a_question_a_secret_and_a_doubtful_line_are_no_source(other: Item) -> None:
    told = _sources([other, BEST])
    assert "The ferry leaves at nine." in told
    assert other.text not in told


def test_what_is_doubtful_is_named_where_there_is_nothing_better() -> None:
    doubtful = replace(BEST, mark=Mark.LOW)
    assert doubtful.text in _sources([doubtful])


def test_a_question_and_a_secret_alone_are_no_source() -> None:
    assert "Nothing from earlier" in _sources(
        [replace(BEST, text="The pin of my card is 1234."), replace(BEST, text="Is it late?")]
    )
