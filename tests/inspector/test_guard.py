"""Access control: only with the secret address, only own data, and no forms of other sites."""

import re
from html import unescape

import httpx
import pytest

from hotmem import Memory
from hotmem.inspector.changes import HEADERS, POLICY, Site
from hotmem.inspector.routes import build
from hotmem.storage import queries
from hotmem.storage.inspection import statements
from tests.conversation import user_of
from tests.inspector.conftest import ADDRESS, SECRET, Pages
from tests.tables import tables

CASES = tables(__file__)

LISTS = (
    "/", "/memories", "/conversations", "/names", "/ask", "/replies", "/learning", "/changes",
    "/forget?what=everything", "/ask?q=Where+does+Potola+live",
    "/ask?q=Where+does+the+dog+live&dropped=yes", f"/memories?words={SECRET}",
    f"/names?begins={SECRET}", "/memories?tag=boiler+tag",
    f"/memories?tag={SECRET.lower()}+boiler+tag", "/memories?standing=past", "/learning?span=all",
)  # fmt: skip
ONE = ("/memories/{}", "/conversations/{}", "/turns/{}", "/names/{}", "/replies/{}")
ASKED = (
    "/forget?what=memory&key={}",
    "/forget?what=conversation&key={}",
    "/forget?what=name&key={}",
    "/ask?q=home&session={}",
)

MOST_KEYS = 40
"""Upper bound of row numbers of any kind."""


def words(page: httpx.Response) -> str:
    """Return the text of a page without that of the request."""
    return unescape(re.sub(r'value="[^"]*"', "", page.text))


async def test_every_page_shows_nothing_of_another_user(pages: Pages) -> None:
    for path in LISTS:
        page = await pages.get(path)
        assert page.status_code == 200, path
        assert SECRET not in words(page), path
    found = 0
    for path in (one.format(key) for one in (*ONE, *ASKED) for key in range(1, MOST_KEYS)):
        page = await pages.get(path)
        assert page.status_code in (200, 404), path
        assert SECRET not in words(page), path
        found += page.status_code == 200
    assert found > 30


async def test_a_question_about_another_user_finds_nothing_of_theirs(pages: Pages) -> None:
    page = words(await pages.get(f"/ask?q=Where+does+{SECRET}+live"))
    assert f"{SECRET} Street" not in page
    assert f"{SECRET} boiler" not in page


async def test_no_form_reaches_another_user(pages: Pages, memory: Memory) -> None:
    before = [line async for line in memory.export("ben")]
    theirs = ",".join(str(key) for key in range(1, MOST_KEYS))
    for key in range(1, MOST_KEYS):
        if (await pages.get(f"/memories/{key}")).status_code == 200:
            continue
        assert (
            await pages.post(f"/memories/{key}/edit", content="Nothing.", importance="1")
        ).status_code == 404
        for what in ("memory", "conversation", "name"):
            if (await pages.get(f"/forget?what={what}&key={key}")).status_code == 404:
                assert (await pages.post("/forget", what=what, key=str(key))).status_code == 404
    assert (await pages.post("/merge", keys=theirs, into=str(MOST_KEYS))).status_code == 404
    ben = await user_of(memory.runtime.database, "ben")
    (decision,) = [
        one.id
        for one in await memory.runtime.database.read(
            queries.decisions.of_user,
            ben,
            10,
        )
    ][-1:]
    assert (await pages.post("/undo", decision=decision)).status_code == 400
    assert [line async for line in memory.export("ben")] == before


@pytest.mark.parametrize(
    "path", ["/", "/memories", "/style.css", "/wrong/memories", "/%2e%2e/memories", "//memories"]
)
async def test_requests_without_the_token_are_refused(pages: Pages, path: str) -> None:
    page = await pages.client.get(path)
    assert page.status_code == 403
    assert "Potola" not in page.text
    assert page.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize("host", CASES["another_host_name_is_refused"])
async def test_another_host_name_is_refused(pages: Pages, host: str) -> None:
    page = await pages.client.get(f"/{pages.site.token}/", headers={"host": host})
    assert page.status_code == 400
    assert "Potola" not in page.text


async def test_every_response_has_the_security_headers(pages: Pages) -> None:
    for path in (
        *LISTS,
        "/style.css",
        "/icon.svg",
        "/memories/999999",
        "/nothing",
    ):
        page = await pages.get(path)
        assert {name: page.headers[name] for name in HEADERS} == HEADERS, path
        if page.headers["content-type"].startswith("text/html"):
            assert not re.search(r"<script|javascript:|style=|\son\w+=", page.text), path
            assert not re.search(r'(?:src|srcset|href|action)="(?!/|#)', page.text), path
    assert "script-src" not in POLICY and "default-src 'none'" in POLICY


async def test_a_form_of_another_site_changes_nothing(pages: Pages, memory: Memory) -> None:
    known = await memory.memories("ana")
    row = (await pages.site.rows()).read(statements.by_names, [known[0].id])
    key = (await row)[known[0].id].key
    forms = {
        f"/memories/{key}/edit": {"content": "Nothing."},
        "/forget": {"what": "memory", "key": str(key)},
        "/merge": {"keys": "1,2", "into": "1"},
        "/undo": {"decision": "x"},
    }
    for path, fields in forms.items():
        address = f"/{pages.site.token}{path}"
        assert (await pages.client.post(address, data=fields)).status_code == 400, path
        assert (
            await pages.client.post(address, data=fields | {"form_token": "guessed"})
        ).status_code == 400, path
        ours = fields | {"form_token": pages.site.form_token}
        foreign = await pages.client.post(
            address, data=ours, headers={"origin": "http://evil.example"}
        )
        assert foreign.status_code == 403, path
        assert (
            await pages.client.post(address, data=ours, headers={"origin": "null"})
        ).status_code == 403, path
        assert (await pages.client.request("PUT", address, data=ours)).status_code == 404, path
    assert await memory.memories("ana") == known


async def test_a_form_that_is_too_large_is_refused(pages: Pages) -> None:
    assert (await pages.post("/undo", decision="x" * 70_000)).status_code == 413


async def test_reading_changes_nothing(pages: Pages, memory: Memory) -> None:
    before = [line async for line in memory.export("ana")]
    for path in LISTS:
        await pages.get(path)
    assert [line async for line in memory.export("ana")] == before


async def test_each_start_has_a_new_address(memory: Memory) -> None:
    sites = [Site(memory, "ana") for _ in range(2)]
    assert len({sites[0].token, sites[1].token, sites[0].form_token, sites[1].form_token}) == 4
    assert len(sites[0].token) >= 32
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(build(sites[0])), base_url=ADDRESS
    ) as client:
        assert (await client.get(f"/{sites[1].token}/")).status_code == 403
    for site in sites:
        await site.worker.close()
