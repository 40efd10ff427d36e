"""Reading a context, and the copy with a block."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pipecat.processors.aggregators.llm_context import (
    LLMContext,
    LLMContextMessage,
    LLMSpecificMessage,
)

from hotmem.pipecat.context import (
    UserMessage,
    collapse_spaces,
    inject_blocks,
    latest_user_message,
    visible_besides,
    visible_texts,
)

BLOCK = "<memory>block</memory>"

words = st.text(alphabet="abc \n", max_size=8)
contents = words | st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": words}), max_size=2
)
standard = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system", "developer", "tool"]),
        "content": contents,
    }
)
specific = st.builds(LLMSpecificMessage, llm=st.just("google"), message=st.just({"parts": []}))
messages = st.lists(standard | specific, max_size=12)


def roles(context: LLMContext) -> list[str | None]:
    return [
        None if isinstance(message, LLMSpecificMessage) else message["role"]
        for message in context.get_messages()
    ]


@given(messages)
def test_block_stands_right_before_the_latest_user_message_of_a_copy(
    given_messages: list[LLMContextMessage],
) -> None:
    context = LLMContext(messages=[*given_messages])
    copy = inject_blocks(context, BLOCK, notice="Said by HotMem.")
    assert context.get_messages() == given_messages
    place = copy.get_messages().index({"role": "user", "content": BLOCK})
    assert copy.get_messages()[place + 1] == {"role": "developer", "content": "Said by HotMem."}
    assert [*copy.get_messages()[:place], *copy.get_messages()[place + 2 :]] == given_messages
    assert "user" not in roles(copy)[place + 3 :]
    if "user" in roles(context):
        assert roles(copy)[place + 2] == "user"


@given(messages)
def test_question_and_visible_texts_are_plain_words(
    given_messages: list[LLMContextMessage],
) -> None:
    context = LLMContext(messages=[*given_messages])
    question = latest_user_message(context, 0)
    texts = visible_texts(context)
    assert all(text and text == collapse_spaces(text) for text in texts)
    if question is not None:
        assert question.number == roles(context).count("user")
        assert question.text in texts
        assert sorted((*visible_besides(context, question), question.text)) == sorted(texts)


def test_content_lists_service_messages_and_images() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    asked: Any = {"role": "user", "content": [{"type": "text", "text": "What is  this?"}, image]}
    shown: Any = {"role": "user", "content": [image]}
    context = LLMContext(messages=[LLMSpecificMessage("google", {"thought": "x"}), asked])
    assert latest_user_message(context, 0) == UserMessage(0, number=1, text="What is this?")
    assert latest_user_message(LLMContext(messages=[shown]), 0) is None
    assert latest_user_message(LLMContext(), 0) is None


def test_tools_go_with_the_copy() -> None:
    context = LLMContext(messages=[{"role": "user", "content": "Hi"}], tool_choice="none")
    copy = inject_blocks(context, BLOCK)
    assert (copy.tools, copy.tool_choice) == (context.tools, context.tool_choice)
