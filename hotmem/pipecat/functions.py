"""The memory tools as functions that the bot's LLM can call."""

from typing import Any, Final

from pipecat.services.llm_service import FunctionCallParams, LLMService

from hotmem.block.rendering import NOTES
from hotmem.core.logs import log
from hotmem.errors import HotMemError, InvalidInput
from hotmem.memory import Memory
from hotmem.operations.results import acting
from hotmem.text.escaping import escape_for_prompt, escape_json_for_prompt
from hotmem.tools.memory_tools import Tool
from hotmem.tools.registry import FOR_MODELS
from hotmem.types import Actor
from hotmem.understanding.private_statements import is_private

try:
    from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
    from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
except ImportError:  # pipecat 1.13
    from pipecat.adapters.schemas.function_schema import FunctionSchema
    from pipecat.adapters.schemas.tools_schema import ToolsSchema


VEILED: Final = "[a secret: the user is given it only when they ask for it]"


def memory_functions(memory: Memory, user_id: str, llm: LLMService[Any]) -> ToolsSchema:
    """Register the memory tools with an LLM service, and return their schemas.

        context = LLMContext(tools=memory_functions(memory, "ana", llm))

    Args:
        memory: An open memory.
        user_id: The user.
        llm: The LLM service.
    """
    for tool in FOR_MODELS:
        llm.register_function(tool.name, _handler(tool, memory, user_id))
    return ToolsSchema(standard_tools=[_function_schema(tool) for tool in FOR_MODELS])


def _function_schema(tool: Tool) -> FunctionSchema:
    schema = tool.schema
    definitions = schema.get("$defs", {})
    return FunctionSchema(
        tool.name,
        tool.description,
        _inline_references(schema["properties"], definitions),
        schema.get("required", []),
    )


def _inline_references(node: Any, definitions: dict[str, Any]) -> Any:  # noqa: ANN401 - any part of a JSON schema
    """The schema without references, which some LLM services do not follow."""
    if isinstance(node, dict):
        if "$ref" in node:
            return _inline_references(definitions[node["$ref"].rpartition("/")[2]], definitions)
        return {key: _inline_references(value, definitions) for key, value in node.items()}
    if isinstance(node, list):
        return [_inline_references(value, definitions) for value in node]
    return node


def _veiled(node: Any) -> Any:  # noqa: ANN401 - any part of a JSON answer
    """An answer without the texts that hold a secret: a block gives one to who asks for it."""
    if isinstance(node, dict):
        return {key: _veiled(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_veiled(value) for value in node]
    return VEILED if isinstance(node, str) and " " in node and is_private(node) else node


def _handler(tool: Tool, memory: Memory, user_id: str) -> Any:  # noqa: ANN401 - pipecat's handlers have several forms
    async def handle(params: FunctionCallParams) -> None:
        try:
            content = str(params.arguments.get("content", ""))
            if memory.runtime.suppression.withholds(content, user_id=user_id):
                raise InvalidInput(
                    "The user asked to forget this. It is kept only once they speak of it again."
                )
            with acting(Actor.TOOL):
                result = _veiled(await tool.call(memory, user_id, params.arguments))
            answer = {"note": NOTES, **escape_json_for_prompt(result)}
        except HotMemError as error:
            answer = {"error": escape_for_prompt(str(error))}
        except Exception as error:  # a failing memory must not silence the bot
            log.error("tool call failed", tool=tool.name, error=type(error).__name__)
            answer = {"error": "The memory failed."}
        await params.result_callback(answer)

    return handle
