"""The evaluation of summaries: altered points, and summaries by a model."""

import json
from pathlib import Path
from typing import Any

from eval.tools.summaries import check, conversations, summarise
from hotmem.models import Language
from tests.chat_server import chat_server, facts


def test_every_conversation_of_both_halves_has_points() -> None:
    for half in ("dev", "held"):
        given = conversations(half)
        assert [len(one.points) for one in given].count(0) == 0 and len(given) == 8
        assert all(len(one.turns) >= 12 and one.half == half for one in given)


def test_altered_points_differ_and_are_dropped(language: Language) -> None:
    done = list(check(language, conversations("dev")[:2]))
    written = {text for change, _, text, _ in done if change == "as it was written"}
    altered = [one for one in done if one[0].startswith(("another", "with"))]
    assert altered and not {text for _, _, text, _ in altered} & written
    assert sum(reason is not None for *_, reason in altered) > 0.8 * len(altered)


async def test_a_model_writes_the_summaries(tmp_path: Path) -> None:
    (one,) = conversations("dev")[:1]

    def answer(turns: list[dict[str, Any]]) -> str:
        if "minutes" not in chat.asked[-1]["messages"][0]["content"]:
            return facts()
        first = {"text": "Marlene saw the flat on Gerber Street.", "turns": [1]}
        return json.dumps({"summary": [first, {"text": "Oleander sings.", "turns": [1]}]})

    with chat_server() as chat:
        chat.says = answer
        found, costs = await summarise(tmp_path / "memory.db", [one], chat.options(summaries=True))
    ((session, summary),) = found
    assert session == one.session
    assert [told.text for told in summary.narrative] == ["Marlene saw the flat on Gerber Street."]
    assert [(spent.summaries, spent.dropped, spent.calls) for spent in costs] == [(1, 1, 2)]
