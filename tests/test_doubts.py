"""What may be outdated, from what is said to the block."""

from datetime import timedelta

from hotmem import Memory
from tests.conversation import START, said

MINUTES_OF_A_DAY = 24 * 60


async def test_an_older_fact_that_may_be_outdated_has_both_dates_in_the_block(
    memory: Memory,
) -> None:
    for days, text in ((0, "My sister lives in Leeds."), (64, "My sister lives in Bath.")):
        minutes = days * MINUTES_OF_A_DAY
        await memory.remember(said(text, session=f"day {days}", minutes=minutes))
        await memory.settle()
    block = await memory.recall(
        "Where does my sister live?",
        user_id="ana",
        session_id="now",
        at=START + timedelta(days=70),
    )
    assert [item for item in block.items if item.valid_until] == []
    doubted = {item.text for item in block.items if item.doubted_at}
    assert any("Leeds" in text for text in doubted) and not any("Bath" in text for text in doubted)
    assert "possibly outdated: said 2 March, contradicted 5 May" in block.text
    assert block.text.index("Bath") < block.text.index("Leeds")
