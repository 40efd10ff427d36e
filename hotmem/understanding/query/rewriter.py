"""Query rewriting by a language model behind an OpenAI-compatible endpoint, under a deadline.

Nothing is sent unless an endpoint is configured. A rewriting is used only if the conversation
supports it; any failure leaves the query unchanged.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from time import monotonic
from typing import Any, Final

from cachetools import TTLCache

from hotmem.errors import ExtraMissing
from hotmem.models.chat_endpoint import ChatEndpoint, EndpointFailed
from hotmem.options import ExtractionOptions, RewriteOptions
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import Rewrite

PROMPT: Final = (
    "Rewrite the user's last utterance so that it can be understood without the conversation. "
    "Replace words that point elsewhere (it, she, that, there, again, the other one) and fill in "
    "what is left unsaid, with words from the conversation alone. Keep the intent, the person and "
    "every other word. Leave what the conversation does not resolve as it stands. Do not answer "
    'the utterance. Reply with JSON only: {"rewritten": "...", "confidence": 0.0 to 1.0, '
    '"resolved": ["that → the blue kayak"]}'
)

MIN_CONFIDENCE: Final = 0.7
"""Minimum confidence of a rewriting that is used."""

DEFAULT_CONFIDENCE: Final = 0.75
"""Confidence of an answer that states none."""

CACHE_TTL_S: Final = 300.0
"""Lifetime of a cached rewriting, in seconds."""

CACHE_SIZE: Final = 256
MAX_TOKENS: Final = 200

MAX_ADDED_WORDS: Final = 25
"""Maximum number of words that a rewriting may add."""

_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)


class Rewriter:
    """Rewrites queries by a language model.

    Args:
        options: Endpoint, model and deadline.
    """

    def __init__(self, options: RewriteOptions) -> None:
        self._limit_s = options.deadline_ms / 1000
        try:
            self._endpoint = ChatEndpoint(
                ExtractionOptions(options.model, options.base_url, options.api_key)
            )
        except ExtraMissing as error:
            raise ExtraMissing(
                "A rewriting model is configured, but the openai package is not installed. "
                'Run: pip install "pipecat-hotmem[rewriting]", or leave HOTMEM_REWRITING empty.'
            ) from error
        self._cache: TTLCache[tuple[str, ...], Rewrite] = TTLCache(CACHE_SIZE, CACHE_TTL_S)

    async def rewrite(
        self,
        text: str,
        turns: Sequence[str],
        limit_s: float | None = None,
        hints: Sequence[str] = (),
    ) -> Rewrite:
        """Rewrite a query so that it can be understood without the conversation.

        Args:
            text: The query.
            turns: The preceding turns, oldest first.
            limit_s: Maximum duration in seconds; the deadline of the options applies as well.
            hints: Phrases of those turns that the query may refer to, likeliest first.

        Returns:
            The rewriting, or the unchanged query and the reason.
        """
        key = (text, *turns)
        if (cached := self._cache.get(key)) is not None:
            return cached
        started = monotonic()
        limit = self._limit_s if limit_s is None else min(self._limit_s, limit_s)
        try:
            async with asyncio.timeout(limit):
                answer = await self._endpoint.complete(_messages(text, turns, hints), MAX_TOKENS)
        except (TimeoutError, EndpointFailed) as error:
            ms = 1000 * (monotonic() - started)
            reason = error.reason if isinstance(error, EndpointFailed) else type(error).__name__
            return Rewrite(text, text, ms=ms, reason=f"the model failed: {reason}")
        ms = 1000 * (monotonic() - started)
        self._cache[key] = rewrite = validate(text, turns, answer.text, ms)
        return rewrite

    def clear(self) -> None:
        """Empty the cache."""
        self._cache.clear()

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


def validate(text: str, turns: Sequence[str], answer: str, ms: float) -> Rewrite:
    """Parse and validate a model's answer.

    A rewriting may use only words of the query and the conversation, and must keep all words of the
    query.

    Args:
        text: The query.
        turns: The preceding turns.
        answer: The model's answer.
        ms: Duration of the request in milliseconds.

    Returns:
        The rewriting, or the unchanged query and the reason.
    """
    data = _parsed(answer)
    expanded = " ".join(str(data.get("rewritten") or "").split()).strip("\"'“”‘’` ")
    stated = data.get("confidence")
    confidence = (
        min(max(float(stated), 0.0), 1.0)
        if isinstance(stated, int | float) and not isinstance(stated, bool)
        else DEFAULT_CONFIDENCE
    )
    original, rewritten = stems(text) - STOP_STEMS, stems(expanded) - STOP_STEMS
    supported = original | stems(" ".join(turns))
    if not expanded or len(expanded.split()) > len(text.split()) + MAX_ADDED_WORDS:
        return Rewrite(text, text, ms=ms, reason="the model returned no rewriting")
    if not original <= rewritten <= supported:
        reason = "the model added words that nobody said, or dropped some"
        return Rewrite(text, text, ms=ms, reason=reason)
    if confidence < MIN_CONFIDENCE:
        return Rewrite(
            text, text, confidence=confidence, ms=ms, reason="the model was not confident enough"
        )
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
        "rewritten by the model" if changed else "already unambiguous",
        ms,
    )


def _parsed(answer: str) -> dict[str, Any]:
    """Return the JSON object in an answer; an answer of one line without one is the rewriting."""
    match = _OBJECT.search(answer)
    if match is not None:
        try:
            data = json.loads(match[0])
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}
    lines = [line for line in answer.splitlines() if line.strip()]
    return {"rewritten": lines[0]} if len(lines) == 1 else {}


def _messages(text: str, turns: Sequence[str], hints: Sequence[str]) -> list[Any]:
    conversation = "\n".join(f"- {escape_for_prompt(turn)}" for turn in turns)
    meant = "; ".join(map(escape_for_prompt, hints))
    hint = f"\n\nIt may refer to (a guess, possibly wrong): {meant}" if hints else ""
    return [
        {"role": "system", "content": PROMPT},
        {
            "role": "user",
            "content": f"Conversation:\n{conversation}\n\n"
            f"Last utterance: {escape_for_prompt(text)}{hint}",
        },
    ]
