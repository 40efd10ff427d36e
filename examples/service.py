"""A web service with one memory for many users.

    pip install pipecat-hotmem fastapi uvicorn
    uvicorn service:app

Put your own authentication before it: a client that may name a user reads and changes their memory.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Literal

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

import hotmem


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the memory once for the process; HOTMEM_DATABASE names a file or a server."""
    async with hotmem.Memory.open() as memory:
        app.state.memory = memory
        yield


app = FastAPI(lifespan=lifespan)


class Said(BaseModel):
    """One turn of a conversation."""

    session_id: str
    role: Literal["user", "assistant"] = "user"
    text: str


@app.exception_handler(hotmem.HotMemError)
async def on_error(_: Request, error: hotmem.HotMemError) -> JSONResponse:
    """Answer 422 for invalid input, 503 while the memory cannot be used."""
    status = 422 if isinstance(error, hotmem.InvalidInput) else 503
    return JSONResponse({"detail": str(error)}, status)


@app.post("/users/{user_id}/turns", status_code=201)
async def remember(user_id: str, said: Said, request: Request) -> None:
    """Store a turn; it is durable when this returns."""
    memory: hotmem.Memory = request.app.state.memory
    turn = hotmem.Turn(user_id, said.session_id, said.role, said.text, datetime.now(UTC))
    await memory.remember(turn)


@app.get("/users/{user_id}/context")
async def recall(user_id: str, question: str, request: Request, session_id: str = "") -> str:
    """Return the context block for a question."""
    memory: hotmem.Memory = request.app.state.memory
    block = await memory.recall(question, user_id=user_id, session_id=session_id or None)
    return block.text


@app.delete("/users/{user_id}")
async def forget(user_id: str, request: Request) -> str:
    """Delete everything of a user, and return the receipt."""
    memory: hotmem.Memory = request.app.state.memory
    return str(await memory.forget(user_id=user_id, everything=True))
