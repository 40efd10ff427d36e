"""The memory tools as functions that the bot's own model can call."""

from typing import Any

from pipecat.services.llm_service import FunctionCallParams, LLMService

from hotmem.block.rendering import NOTES
from hotmem.core.logs import log
from hotmem.errors import HotMemError, InvalidInput
from hotmem.memory import Memory
from hotmem.operations.actor import acting
from hotmem.text.escaping import escape_for_prompt, escape_json_for_prompt
from hotmem.tools.registry import FOR_MODELS, Tool
from hotmem.types import Actor

try:
    from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
    from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
except ImportError:  # pipecat 1.13
    from pipecat.adapters.schemas.function_schema import FunctionSchema
    from pipecat.adapters.schemas.tools_schema import ToolsSchema


def memory_functions(memory: Memory, user_id: str, llm: LLMService[Any]) -> ToolsSchema:
    """Lets a model keep and find things itself.

    Registers the handlers and returns the schemas for its context.

        context = LLMContext(tools=memory_functions(memory, "ana", llm))

    Args:
        memory: An open memory.
        user_id: Whose memory it is.
        llm: The model's service.
    """
    for one in FOR_MODELS:
        llm.register_function(one.name, _handler(one, memory, user_id))
    return ToolsSchema(standard_tools=[_described(one) for one in FOR_MODELS])


def _described(one: Tool) -> FunctionSchema:
    schema = one.schema
    definitions = schema.get("$defs", {})
    return FunctionSchema(
        one.name,
        one.description,
        _inlined(schema["properties"], definitions),
        schema.get("required", []),
    )


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:  # noqa: ANN401 - any part of a JSON schema
    """The schema without references, which some models' services do not follow."""
    if isinstance(node, dict):
        if "$ref" in node:
            return _inlined(definitions[node["$ref"].rpartition("/")[2]], definitions)
        return {key: _inlined(value, definitions) for key, value in node.items()}
    return [_inlined(value, definitions) for value in node] if isinstance(node, list) else node


def _handler(one: Tool, memory: Memory, user_id: str) -> Any:  # noqa: ANN401 - pipecat's handlers have several forms
    async def handle(params: FunctionCallParams) -> None:
        try:
            if memory.withholds(str(params.arguments.get("content", "")), user_id=user_id):
                raise InvalidInput(
                    "The user asked to forget this. It is kept only once they speak of it again."
                )
            with acting(Actor.TOOL):
                answer = {
                    "note": NOTES,
                    **escape_json_for_prompt(await one.call(memory, user_id, params.arguments)),
                }
        except HotMemError as error:
            answer = {"error": escape_for_prompt(str(error))}
        except Exception as error:  # the border at which a failing memory must not silence the bot
            log.error("tool failed", tool=one.name, error=type(error).__name__)
            answer = {"error": "The memory failed."}
        await params.result_callback(answer)

    return handle
