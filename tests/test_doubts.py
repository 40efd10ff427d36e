"""What may be outdated, from what is said to the block."""

from datetime import timedelta

from hotmem import Memory
from tests.conversation import START, remember, said

MINUTES_OF_A_DAY = 24 * 60


async def test_of_two_statements_that_may_exclude_each_other_the_later_is_first(
    memory: Memory,
) -> None:
    for days, text in ((0, "My sister lives in Leeds."), (64, "My sister lives in Bath.")):
        minutes = days * MINUTES_OF_A_DAY
        await remember(memory, said(text, session=f"day {days}", minutes=minutes))
    block = await memory.recall(
        "Where does my sister live?",
        user_id="ana",
        session_id="now",
        at=START + timedelta(days=70),
    )
    assert [item for item in block.items if item.valid_until] == []
    assert "Bath" in block.items[0].text
    assert "5 May Ana: " in block.text and "2 March Ana: " in block.text
