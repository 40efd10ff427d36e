"""The rule-based responder: replies from the block, else the conversation, else unknown."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipecat.frames.frames import (
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext

from hotmem.block.rendering import render_notice
from pipelines.responder import (
    ACKNOWLEDGED,
    CORRECTED,
    GREETING,
    UNKNOWN,
    Responder,
    Statement,
    answer,
    is_question,
    reply_to,
    statements,
)
from tests.pipeline_runs import run_test
from tests.tables import tables

CASES = tables(__file__)

BLOCK = """<memory> said before; no instructions
5 March noted: Daniel's sister lives in Denver. (high)
2 March noted: Daniel's sister lives in Boston. (until 5 March)
2 March 2025 summary: Daniel loves jazz music.
2 March Daniel: "I have a dog called Rocky." (high)
2 March Daniel: "What is my dog called?"
2 March Daniel: "Next Tuesday I am flying to Chicago." (medium, on 10 March)
2 March Daniel: "Yesterday and next week I sing." (on 1 March, in the week of 9 March)
2 March Daniel: "I was in Rome (in Italy)"
</memory>"""
YEAR = date.today().year


def asked(question: str, block: str = BLOCK) -> LLMContext:
    return LLMContext(
        messages=[{"role": "user", "content": block}, {"role": "user", "content": question}]
    )


def test_statements_of_a_block_with_their_dates() -> None:
    then = date(YEAR, 3, 2)
    assert statements(BLOCK) == (
        Statement("Daniel's sister lives in Denver.", date(YEAR, 3, 5), ended=False),
        Statement("Daniel's sister lives in Boston.", then, ended=True),
        Statement("Daniel loves jazz music.", date(2025, 3, 2), ended=False),
        Statement("I have a dog called Rocky.", then, ended=False),
        Statement("Next Tuesday I am flying to Chicago.", then, ended=False),
        Statement("Yesterday and next week I sing.", then, ended=False),
        Statement("I was in Rome (in Italy)", then, ended=False),
    )


@pytest.mark.parametrize(
    ("utterance", "reply"),
    [
        ("What's my dog called?", 'You said: "I have a dog called Rocky."'),
        ("so where does my sister live", "Daniel's sister lives in Denver."),
        (
            "When am I flying to Chicago?",
            'On 2 March you said: "Next Tuesday I am flying to Chicago."',
        ),
        ("What kind of car do I drive?", UNKNOWN),
        ("I have two cats.", ACKNOWLEDGED),
        ("No, she lives in Denver.", CORRECTED),
        ("Hello there.", GREETING),
    ],
)
def test_replies_from_the_block(utterance: str, reply: str) -> None:
    assert reply_to(asked(utterance)) == reply


@pytest.mark.parametrize(("notice", "reply"), CASES["replies_to_notices"])
def test_replies_to_notices(notice: str, reply: str) -> None:
    assert reply in reply_to(asked("Yes.", render_notice(notice)))


def test_unknown_without_a_block() -> None:
    assert reply_to(asked("What is the capital of France?", "")) == UNKNOWN
    assert (
        reply_to(
            asked(
                "What's my dog called?",
                "<memory>Nothing is known from earlier conversations about: dog.</memory>",
            )
        )
        == UNKNOWN
    )
    assert reply_to(LLMContext()) == ""


def test_replies_from_the_conversation() -> None:
    messages = ("My dog is called Rocky.", "What is my cat's name?", "What is my dog called?")
    context = LLMContext(messages=[{"role": "user", "content": text} for text in messages])
    assert reply_to(context) == 'You said: "My dog is called Rocky."'


@given(st.text(), st.lists(st.text(alphabet="abcde fgi", min_size=1)))
def test_replies_contain_only_given_statements(question: str, texts: list[str]) -> None:
    reply = answer(question, tuple(Statement(text, None, ended=False) for text in texts))
    assert reply.removeprefix('You said: "').removesuffix('"') in ("", *texts)


@pytest.mark.parametrize(
    "utterance",
    ["who is coming with me on that", "And what about Denver", "Rocky?", "Do I like coffee."],
)
def test_questions_without_a_question_mark(utterance: str) -> None:
    assert is_question(utterance)


async def test_context_frames_are_answered_unless_speculative() -> None:
    frames = [
        LLMContextFrame(context=asked("What's my dog called?"), speculation=True),
        LLMContextFrame(context=asked("What's my dog called?")),
    ]
    down, _ = await run_test(
        Responder(),
        frames_to_send=frames,
        expected_down_frames=[LLMFullResponseStartFrame, LLMTextFrame, LLMFullResponseEndFrame],
    )
    text = down[1]
    assert isinstance(text, LLMTextFrame)
    assert "Rocky" in text.text
