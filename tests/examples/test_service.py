"""The web service keeps users apart, and states errors."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from examples import service

QUESTION = {"question": "What's my dog called?"}


def test_one_memory_serves_many_users(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTMEM_DATABASE", str(database))
    with TestClient(service.app) as client:
        for user, text in (("ana", "My dog is called Potola."), ("ben", "My dog is called Rex.")):
            said = {"session_id": "monday", "text": text}
            assert client.post(f"/users/{user}/turns", json=said).status_code == 201
        anas = client.get("/users/ana/context", params=QUESTION).json()
        assert "Potola" in anas and "Rex" not in anas
        assert "removed" in client.delete("/users/ana").json()
        assert "Potola" not in client.get("/users/ana/context", params=QUESTION).json()
        assert "Rex" in client.get("/users/ben/context", params=QUESTION).json()
        empty = client.post("/users/ana/turns", json={"session_id": "", "text": "Hello."})
        assert empty.status_code == 422 and "session_id" in empty.json()["detail"]
