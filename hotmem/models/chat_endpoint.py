"""Client of an OpenAI-compatible endpoint for background jobs.

Time and size of an answer are limited, redirects are not followed: they could send speech to
another host. Every failure is an `EndpointFailed`.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hotmem.errors import ExtraMissing
from hotmem.options import ExtractionOptions

MAX_BYTES: Final = 1_000_000
"""Bytes of a response that are read; a longer one is a failure."""

MAX_TOKENS_STATED: Final = 10_000_000
"""Tokens that an endpoint may state of one call; more is not believed."""

FIXABLE: Final = frozenset({408, 409, 425, 429})
"""Client errors that may pass by themselves."""


class EndpointFailed(Exception):
    """A call without a readable answer.

    Attributes:
        reason: The reason, without text from the endpoint.
        lasting: Whether a person must fix it, such as a wrong key or model name.
    """

    def __init__(self, reason: str, *, lasting: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """An answer, untrusted.

    Attributes:
        text: Its text.
        prompt_tokens: Tokens of the prompt as the endpoint states them; None if it does not.
        completion_tokens: Tokens of the answer, likewise.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None


class ChatEndpoint:
    """Sends messages to a language model.

    Args:
        options: Endpoint, model and timeout.

    Raises:
        ExtraMissing: If the openai package is not installed.
    """

    def __init__(self, options: ExtractionOptions) -> None:
        try:
            # imported on use because it takes half a second
            from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient, OpenAIError
        except ImportError as error:
            raise ExtraMissing(
                "A model that extracts facts is configured, but the openai package is not "
                'installed. Run: pip install "pipecat-hotmem[extraction]", or leave '
                "HOTMEM_EXTRACTION empty."
            ) from error

        self._options = options
        self._status_error, self._error = APIStatusError, OpenAIError
        self._client = AsyncOpenAI(
            base_url=options.base_url,
            api_key=options.api_key or "none",
            max_retries=0,
            timeout=options.timeout_s,
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
            default_headers={"Accept-Encoding": "identity"},
        )

    async def complete(self, messages: Sequence[Any], max_tokens: int) -> ChatAnswer:
        """Send messages and return the answer.

        Raises:
            EndpointFailed: If there is none, in time and of a size that can be read.
        """
        try:
            async with asyncio.timeout(self._options.timeout_s):
                return _read(await self._body(messages, max_tokens))
        except self._status_error as error:
            code = error.status_code
            lasting = code < 500 and code not in FIXABLE
            raise EndpointFailed(f"status {code}", lasting=lasting) from None
        except EndpointFailed:
            raise
        except TimeoutError:
            raise EndpointFailed("timeout") from None
        except Exception as error:  # whatever a client raises for what an endpoint sends
            raise EndpointFailed(type(error).__name__) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _body(self, messages: Sequence[Any], max_tokens: int) -> bytes:
        """The body of the response, as it was sent."""
        body = bytearray()
        async with self._client.chat.completions.with_streaming_response.create(
            model=self._options.model,
            messages=list(messages),
            temperature=0.0,
            max_tokens=max_tokens,
        ) as response:
            async for chunk in response.http_response.aiter_raw():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise EndpointFailed("answer too long")
        return bytes(body)


def _read(body: bytes) -> ChatAnswer:
    """Parse a response of the chat completions endpoint."""
    try:
        data = json.loads(body)
        text = data["choices"][0]["message"]["content"]
        usage = data.get("usage")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise EndpointFailed("not a chat completion") from None
    if not isinstance(text, str):
        raise EndpointFailed("no text in the answer")
    stated = usage if isinstance(usage, dict) else {}
    return ChatAnswer(
        text, _tokens(stated.get("prompt_tokens")), _tokens(stated.get("completion_tokens"))
    )


def _tokens(value: Any) -> int | None:  # noqa: ANN401 - whatever JSON holds
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 < value <= MAX_TOKENS_STATED else None
