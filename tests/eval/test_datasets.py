"""Loaders on tiny files of our own, in each publisher's form."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eval.datasets import LOADERS, Conversation, Dataset
from eval.datasets.beam import message_ids
from eval.datasets.recognised import as_recognised, plain
from hotmem import InvalidInput, Role
from tests.tables import tables

CASES = tables(__file__)


def load(dataset: Dataset, path: Path) -> list[Conversation]:
    return list(LOADERS[dataset](path))


def test_locomo(tmp_path: Path) -> None:
    (tmp_path / "locomo.json").write_text(json.dumps([CASES["locomo"]]))
    (conversation,) = load(Dataset.LOCOMO, tmp_path)
    assert [session.id for session in conversation.sessions] == ["session_2", "session_10"]
    assert [turn.text for turn in conversation.turns] == [
        "Look at my kayak! [shares a photo: a blue kayak on a car]",
        "[shares a photo: a thumb]",
        "The kayak is repaired.",
    ]
    assert {turn.role for turn in conversation.turns} == {Role.USER}
    assert conversation.turns[0].spoken_at == datetime(2024, 5, 8, 13, 56, tzinfo=UTC)
    single, several, adversarial = conversation.questions
    assert (single.evidence, single.category, single.abstain) == (("D2:1",), "single-hop", False)
    assert several.evidence == ("D2:1", "D10:1")
    assert several.answer == "2"
    assert conversation.skipped == 2  # D9:9 and D
    assert adversarial.abstain
    assert single.asked_at == datetime(2024, 6, 2, 9, 5, tzinfo=UTC) + timedelta(days=1)


def test_realtalk(tmp_path: Path) -> None:
    chat = CASES["realtalk"]
    (tmp_path / "Chat_1_Ana_Ben.json").write_text(json.dumps(chat))
    (tmp_path / "LICENSE.json").write_text("{}")
    (conversation,) = load(Dataset.REALTALK, tmp_path)
    assert conversation.user == "Chat_1_Ana_Ben"
    assert conversation.turns[1].text == "Nice [shares a photo: a loaf]"
    assert conversation.turns[1].spoken_at == datetime(2023, 12, 29, 22, 43, tzinfo=UTC)
    assert conversation.questions[0].evidence == ("D1:1",)
    assert conversation.questions[0].category == "common-sense"
    assert conversation.skipped == 1


def longmemeval_entry(question_id: str) -> dict[str, object]:
    return {
        "question_id": question_id,
        "question_type": "single-session-user",
        "question": "Where did I leave the ladder?",
        "answer": "in the barn",
        "question_date": "2023/02/20 (Mon) 22:35",
        "haystack_dates": ["2023/01/02 (Mon) 04:24", "2023/01/05 (Thu) 02:29"],
        "haystack_session_ids": ["s1", "s2"],
        "answer_session_ids": ["s2"],
    }


LADDER = [
    {"role": "user", "content": "The ladder is in the barn.", "has_answer": True},
    {"role": "assistant", "content": "Noted."},
]
HELLO = [{"role": "user", "content": "Hello there."}]


def test_longmemeval_in_the_shared_form(tmp_path: Path) -> None:
    entries = [
        longmemeval_entry("q1") | {"evidence_turns": {"s2": [0, 7]}},
        longmemeval_entry("q2_abs") | {"evidence_turns": {"s2": []}},
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(json.dumps(entry) for entry in entries))
    (tmp_path / "sessions.json").write_text(json.dumps({"s1": HELLO, "s2": LADDER}))
    known, unknown = load(Dataset.LONGMEMEVAL, tmp_path)
    (question,) = known.questions
    assert question.evidence == ("s2#0",)
    assert known.skipped == 1
    assert question.asked_at == datetime(2023, 2, 20, 22, 35, tzinfo=UTC)
    assert [(turn.id, turn.role) for turn in known.turns] == [
        ("s1#0", "user"),
        ("s2#0", "user"),
        ("s2#1", "assistant"),
    ]
    assert known.turns[2].spoken_at > known.turns[1].spoken_at
    assert unknown.questions[0].abstain
    assert {turn.user_id for turn in unknown.turns} == {"q2_abs"}


def test_longmemeval_as_published(tmp_path: Path) -> None:
    file = tmp_path / "longmemeval_s.json"
    file.write_text(json.dumps([longmemeval_entry("q1") | {"haystack_sessions": [HELLO, LADDER]}]))
    (conversation,) = load(Dataset.LONGMEMEVAL, file)
    assert conversation.questions[0].evidence == ("s2#0",)


def test_beam(tmp_path: Path) -> None:
    chat = CASES["beam_chat"]
    probes = CASES["beam_probes"]
    for number in ("10", "9"):
        (tmp_path / number).mkdir()
        (tmp_path / number / "chat.json").write_text(json.dumps(chat))
        (tmp_path / number / "probing_questions.json").write_text(json.dumps(probes))
    first, second = load(Dataset.BEAM, tmp_path)
    assert (first.user, second.user) == ("beam-9", "beam-10")
    assert [turn.text for turn in first.turns] == [
        "My loom has eight shafts.",
        "Good. An arrow ->-> stays here.",
        "Now ten (really)",
    ]
    assert [session.id for session in first.sessions] == ["batch-1", "batch-2"]
    assert first.turns[2].spoken_at.date() == datetime(2024, 4, 5, tzinfo=UTC).date()
    update, abstention, advice = first.questions
    assert update.evidence == ("0", "2")
    assert first.skipped == 1
    assert abstention.abstain
    assert not advice.evidence
    assert not advice.abstain
    assert len(load(Dataset.BEAM, tmp_path / "9")) == 1


@pytest.mark.parametrize(
    ("source", "ids"),
    [([3, 4], [3, 4]), ([3, [4, 5]], [3, 4, 5]), ({"first": [3], "second": [4]}, [3, 4]), ([], [])],
)
def test_beam_names_messages_in_several_shapes(source: object, ids: list[int]) -> None:
    assert message_ids(source) == ids


def test_own_sessions(tmp_path: Path) -> None:
    turn = {
        "type": "turn",
        "user_id": "ana",
        "session_id": "mon",
        "role": "user",
        "spoken_at": "2024-05-06T09:00:00+02:00",
    }
    lines = [
        turn | {"id": "t1", "speaker": "Ana", "text": "My loom has eight shafts."},
        turn | {"id": "t2", "speaker": None, "text": "It is new.", "user_id": "ben"},
        turn | {"id": "t3", "speaker": "Ana", "text": "I weave linen.", "session_id": "tue"},
        {"type": "memory", "id": "m1"},
        {
            "type": "question",
            "id": "q1",
            "user_id": "ana",
            "text": "What do I weave?",
            "asked_at": "2024-06-01T00:00:00Z",
            "evidence": ["t3", "t9"],
            "answer": "linen",
        },
    ]
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    ana, ben = load(Dataset.HOTMEM, file)
    assert [session.id for session in ana.sessions] == ["mon", "tue"]
    assert ana.turns[0].spoken_at == datetime(2024, 5, 6, 7, tzinfo=UTC)
    assert ana.questions[0].evidence == ("t3",)
    assert ana.skipped == 1
    assert not ben.questions


@pytest.mark.parametrize(
    "line", ["not json", '{"type": "turn", "id": "x"}', "[]", '{"type": "question"}']
)
def test_own_sessions_with_a_wrong_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(line)
    with pytest.raises(InvalidInput, match="line 1"):
        load(Dataset.HOTMEM, file)


@pytest.mark.parametrize("dataset", list(Dataset))
def test_an_empty_folder_is_named(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        load(dataset, tmp_path)


def test_as_recognised_keeps_words_and_ids(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([CASES["locomo"]]), encoding="utf-8")
    (written,) = load(Dataset.LOCOMO, path)
    heard = as_recognised(written)
    assert [turn.id for turn in heard.turns] == [turn.id for turn in written.turns]
    assert heard.turns[0].text == "look at my kayak shares a photo a blue kayak on a car"
    assert [question.text for question in heard.questions] == [
        "what is blue",
        "how many times",
        "what is ben's kayak called",
    ]
    assert plain("Hey -- it's 'me'!") == "hey it's me"
