"""Rewriting by a language model.

Any endpoint that speaks OpenAI's protocol, asked under a deadline.

Nothing is sent anywhere unless the user configured an endpoint. What the model answers is used only
if the conversation supports it; its failure, slowness or nonsense costs the rewriting and nothing
else.
"""

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from time import monotonic
from typing import Any, Final

from hotmem.errors import ExtraMissing
from hotmem.options import RewriteOptions
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import Rewrite

RULES: Final = (
    "Rewrite the user's last utterance so that it can be understood without the conversation. Replace words that point elsewhere (it, she, that, "
    "there, again, the other one) and fill in what is left unsaid, with words from the conversation alone. Keep the intent, the person and every "
    "other word. Leave what the conversation does not resolve as it stands. Do not answer the utterance. Reply with JSON only: "
    '{"rewritten": "...", "confidence": 0.0 to 1.0, "resolved": ["that → the blue kayak"]}'
)

MIN_CONFIDENCE: Final = 0.7
"""Below it the utterance stays as it was said (the design's value)."""

DEFAULT_CONFIDENCE: Final = 0.75
"""Confidence in an answer that names none."""

CACHE_TTL_S: Final = 300.0
"""Seconds that an answer is used again (the design's value)."""

CACHE_SIZE: Final = 256
MAX_TOKENS: Final = 200

MAX_ADDED_WORDS: Final = 25
"""Words that a rewriting may add."""

_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)


class Rewriter:
    """Asks the model.

    Args:
        options: Where it is, and how long it may take.
    """

    def __init__(self, options: RewriteOptions) -> None:
        try:
            from openai import (
                AsyncOpenAI,
                OpenAIError,
            )  # half a second that only those pay who have a model
        except ImportError as error:
            raise ExtraMissing(
                "A rewriting model is configured, but the openai package is not installed. "
                'Run: pip install "pipecat-hotmem[rewriting]", or leave HOTMEM_REWRITE_MODEL empty.'
            ) from error

        self._options = options
        self._failures = (
            TimeoutError,
            OpenAIError,
            IndexError,
            TypeError,
            AttributeError,
            ValueError,
        )
        self._client = AsyncOpenAI(
            base_url=options.base_url, api_key=options.api_key or "none", max_retries=0
        )
        self._kept: OrderedDict[tuple[str, ...], tuple[float, Rewrite]] = OrderedDict()

    async def rewrite(
        self, text: str, turns: Sequence[str], limit_s: float | None = None
    ) -> Rewrite:
        """The utterance as the model rewrites it, or as it was said.

        Args:
            text: The utterance.
            turns: What was said before it, oldest first.
            limit_s: Seconds it may take, if fewer than the options say.
        """
        asked = (text, *turns)
        known = self._kept.get(asked)
        if known is not None and monotonic() - known[0] < CACHE_TTL_S:
            return known[1]
        started = monotonic()
        limit = self._options.deadline_ms / 1000
        try:
            async with asyncio.timeout(limit if limit_s is None else min(limit, limit_s)):
                answer = await self._client.chat.completions.create(
                    model=self._options.model,
                    messages=_messages(text, turns),
                    temperature=0.0,
                    max_tokens=MAX_TOKENS,
                )
            said = answer.choices[0].message.content or ""
        except self._failures as error:
            return Rewrite(
                text,
                text,
                ms=1000 * (monotonic() - started),
                reason=f"the model failed: {type(error).__name__}",
            )
        found = validate(text, turns, said, 1000 * (monotonic() - started))
        self._kept[asked] = (monotonic(), found)
        while len(self._kept) > CACHE_SIZE:
            self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        """Keeps no rewriting."""
        self._kept.clear()

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()


def validate(text: str, turns: Sequence[str], answer: str, ms: float) -> Rewrite:
    """What a model's answer is worth.

    The rewriting if the conversation supports it, else the utterance as it was said.

    Args:
        text: The utterance.
        turns: What was said before it.
        answer: All that the model wrote.
        ms: Milliseconds that it took.
    """
    data = _parsed(answer)
    expanded = " ".join(str(data.get("rewritten") or "").split()).strip("\"'“”‘’` ")
    told = data.get("confidence")
    confidence = (
        min(max(float(told), 0.0), 1.0)
        if isinstance(told, int | float) and not isinstance(told, bool)
        else DEFAULT_CONFIDENCE
    )
    own, new = stems(text) - STOP_STEMS, stems(expanded) - STOP_STEMS
    supported = own | stems(" ".join(turns))
    if not expanded or len(expanded.split()) > len(text.split()) + MAX_ADDED_WORDS:
        return Rewrite(text, text, ms=ms, reason="the model wrote no rewriting")
    if not new <= supported or not own <= new:
        return Rewrite(
            text, text, ms=ms, reason="the model said what nobody had said, or left out what was"
        )
    if confidence < MIN_CONFIDENCE:
        return Rewrite(text, text, confidence=confidence, ms=ms, reason="the model was not sure")
    resolved = data.get("resolved")
    names = tuple(str(one) for one in resolved) if isinstance(resolved, list) else ()
    changed = expanded.casefold() != text.casefold()
    return Rewrite(
        text,
        expanded,
        changed,
        confidence,
        names,
        len(turns),
        "rewritten by the model" if changed else "clear as it is",
        ms,
    )


def _parsed(answer: str) -> dict[str, Any]:
    """The object in an answer; an answer without one, but of one line, is the rewriting itself."""
    match = _OBJECT.search(answer)
    if match is not None:
        try:
            data = json.loads(match[0])
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}
    lines = [line for line in answer.splitlines() if line.strip()]
    return {"rewritten": lines[0]} if len(lines) == 1 else {}


def _messages(text: str, turns: Sequence[str]) -> list[Any]:
    conversation = "\n".join(f"- {escape_for_prompt(turn)}" for turn in turns)
    return [
        {"role": "system", "content": RULES},
        {
            "role": "user",
            "content": f"Conversation:\n{conversation}\n\nLast utterance: {escape_for_prompt(text)}",
        },
    ]
