"""Content of the pages and effect of the forms, read as text without a browser."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import httpx
import pytest

from hotmem import Memory
from hotmem.inspector.pages.learning import Period, line_chart, sample_steps, trend
from hotmem.inspector.routes import build
from hotmem.storage import queries
from hotmem.storage.inspection import conversations
from hotmem.storage.inspection import statements as memories
from hotmem.storage.sqlite.connection import Connection
from hotmem.types import START_WEIGHTS, Action, Actor, Layer, Tally, Turn, WeightSnapshot
from tests.consolidation.test_evolution import statements, store
from tests.conversation import START, remember, said
from tests.inspector.conftest import ADDRESS, Pages
from tests.tables import tables

CASES = tables(__file__)

DOG = "Ana's dog is called Potola."


def text(page: httpx.Response) -> str:
    """Return the text of a page."""
    assert page.status_code == 200, page.text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text.split("<main", 1)[1])).split())


async def key_of(pages: Pages, words: str) -> int:
    """Return the row number of a memory of Ana."""
    known = {one.text: one.id for one in await pages.site.memory.memories("ana", past=True)}
    return (await (await pages.site.rows()).read(memories.by_names, [known[words]]))[
        known[words]
    ].key


async def undo_first(pages: Pages, path: str) -> None:
    """Undo the first decision that a page offers to undo."""
    decision = re.search(r'name="decision" value="(\w+)"', (await pages.get(path)).text)
    assert decision is not None
    await pages.post("/undo", decision=decision[1])


async def test_the_overview_shows_counts_and_the_latest(pages: Pages) -> None:
    shown = text(await pages.get("/"))
    assert re.search(r"Conversations 1 ", shown) and re.search(r"Turns 4 ", shown)
    assert DOG in shown


async def test_a_memory_shows_its_source_confidence_and_classification(pages: Pages) -> None:
    page = await pages.get(f"/memories/{await key_of(pages, DOG)}")
    assert "<mark>" in page.text
    shown = text(page)
    assert (
        "My dog is called Potola" in shown
        and "Potola talk" in shown
        and "90 %" in shown
        and "no later statement contradicts it" in shown
    )


async def test_a_secret_is_shown_when_it_is_clicked(pages: Pages, memory: Memory) -> None:
    await remember(memory, Turn("ana", "s", "user", "My bank PIN is 4921.", START, "Ana"))
    (known,) = [one for one in await memory.memories("ana") if "4921" in one.text]
    listed = await pages.get("/memories?words=PIN")
    assert "A secret" in listed.text and "4921" not in listed.text
    page = await pages.get(f"/memories/{await key_of(pages, known.text)}")
    shown = re.sub(r'<(span|textarea) class="veiled".*?</\1>', "", page.text, flags=re.DOTALL)
    assert "4921" in page.text and "4921" not in shown


async def test_memories_are_found_by_words_and_filters(pages: Pages) -> None:
    assert "boiler" not in text(await pages.get("/memories?words=potola"))
    assert DOG in text(await pages.get("/memories?words=potola"))
    assert DOG not in text(await pages.get("/memories?tag=boiler+tag"))
    assert "44 B 19" in text(await pages.get("/memories?tag=boiler+tag"))
    assert "No memory matches" in text(await pages.get("/memories?words=%22+OR+NEAR%28+%2A"))
    assert "No memory matches" in text(await pages.get("/memories?standing=past"))


async def test_a_conversation_links_turns_and_extracted_memories(pages: Pages) -> None:
    rows = await pages.site.rows()
    (session,) = (await rows.read(conversations.sessions, None, 5)).rows
    assert "Summary" in text(await pages.get(f"/conversations/{session.key}"))
    assert session.title is not None
    for page in ("/", "/conversations", f"/conversations/{session.key}"):
        assert session.title in text(await pages.get(page))
    turn = (await rows.read(conversations.turns, session.key, None, 1)).rows[0]
    assert DOG in text(await pages.get(f"/turns/{turn.key}"))


async def test_a_recorded_reply_shows_given_and_used_items(pages: Pages) -> None:
    rows = await pages.site.rows()
    (recall,) = (await rows.read(memories.recalls, None, 5)).rows
    assert recall.used
    shown = text(await pages.get(f"/replies/{recall.key}"))
    assert f"The reply used {recall.used} of them" in shown and "The reply is not stored" in shown
    (turn,) = [
        one
        for one in (await rows.read(conversations.turns, recall.session or 0, None, 10)).rows
        if one.text == recall.query
    ]
    assert f"{recall.given} items given" in text(await pages.get(f"/turns/{turn.key}"))


async def test_the_reply_is_shown_with_its_items(pages: Pages, memory: Memory) -> None:
    (recall,) = (await (await pages.site.rows()).read(memories.recalls, None, 5)).rows
    session, at = str(recall.session_id), recall.asked_at + timedelta(seconds=3)
    await memory.remember(Turn("ana", session, "assistant", "In Porto.", at, "Bot"))
    assert "In Porto. Bot" in text(await pages.get(f"/replies/{recall.key}"))


async def test_times_are_shown_in_the_zone_of_the_turn(pages: Pages, memory: Memory) -> None:
    at = datetime(2026, 7, 4, 9, 30, tzinfo=ZoneInfo("America/New_York"))
    await memory.remember(Turn("ana", "away", "user", "I am in New York.", at, "Ana"))
    session = next(
        row
        for row in (await (await pages.site.rows()).read(conversations.sessions, None, 9)).rows
        if row.id == "away"
    )
    assert await (await pages.site.rows()).read(conversations.zone) == "America/New_York"
    for zone, expected in (
        (ZoneInfo("Europe/Lisbon"), "09:30 (America/New_York)"),
        (ZoneInfo("America/New_York"), "09:30 I am"),
    ):
        there = build(replace(pages.site, zone=zone))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(there), base_url=ADDRESS
        ) as client:
            shown = text(await client.get(f"/{pages.site.token}/conversations/{session.key}"))
        assert expected in shown and f"time zone of {zone.key}" in shown


async def test_asking_explains_the_block(pages: Pages) -> None:
    shown = text(await pages.get("/ask?q=What+is+my+dog+called%3F"))
    for expected in (DOG.replace("Ana's", "My"), "Query analysis", "Layers", "Exact words"):
        assert expected in shown
    assert "No block. " in text(await pages.get("/ask?q=Hello%21"))
    assert "Candidates not in the block" in text(
        await pages.get("/ask?q=What+is+my+dog+called%3F&dropped=yes")
    )


async def test_names_are_drawn_and_listed(pages: Pages) -> None:
    page = await pages.get("/names")
    assert "Potola" in text(page) and "Marta" in text(page) and "<circle" in page.text
    key = (await (await pages.site.rows()).read(memories.entities, "pot", None, 1)).rows[0].key
    assert "Mentioned together with" in text(await pages.get(f"/names/{key}"))


async def test_learning_has_plots_and_their_numbers(pages: Pages) -> None:
    shown = text(page := await pages.get("/learning"))
    assert "1.00" in shown and START.strftime("%Y-%m") in shown
    helped, layers, weights = re.findall(r'<svg class="plot".+?</svg>', page.text, re.DOTALL)
    assert helped.count("<polyline") == 1 and layers.count("<polyline") == len(Layer)
    assert weights.count("<rect") == len(Layer)


def test_a_line_chart_leaves_out_what_has_no_value() -> None:
    labels = [f"{number}" for number in range(17)]
    chart = line_chart(labels, {"all": [None, 0.25, 0.5, *[0.0] * 14]})
    assert chart.top == 0.5 and chart.lines["all"][:3] == [(56, 110), (112, 0), (169, 220)]
    assert [label for _, label in chart.labels] == ["0", "3", "6", "9", "12", "15"]
    assert line_chart([], {"all": []}).lines == {"all": []}


@pytest.mark.parametrize(("replies", "verdict"), CASES["the_trend_is_tested_for_significance"])
def test_the_trend_is_tested_for_significance(replies: list[tuple[int, int]], verdict: str) -> None:
    periods = [
        Period(f"2026-{place:02}", Tally(turns=turns, helped=helped), {})
        for place, (turns, helped) in enumerate(replies, 1)
    ]
    turns, helped = replies[-1]
    assert trend(periods).startswith(
        f"In 2026-{len(replies):02}, memory helped with {100 * helped / turns:.0f} % "
        f"of {turns} replies"
    )
    assert verdict in trend(periods)


def test_a_long_history_is_sample_steps_and_ends_where_it_is() -> None:
    steps = [WeightSnapshot(number, START, START_WEIGHTS, "") for number in range(1234)]
    shown = sample_steps(steps)
    assert (
        len(shown) <= 100
        and shown[-1] is steps[-1]
        and list(shown) == sorted(shown, key=lambda step: step.version)
    )
    assert list(sample_steps(steps[:3])) == steps[:3]
    assert list(sample_steps([])) == []


async def test_an_edit_and_its_undo(pages: Pages) -> None:
    form = {
        "content": "Ana's dog is called Pippa.",
        "category": "contexts",
        "kind": "fact",
        "importance": "5",
        "tags": "dog, pets",
        "note": "at last",
    }
    moved = await pages.post(f"/memories/{await key_of(pages, DOG)}/edit", **form)
    assert moved.status_code == 303
    shown = text(await pages.client.get(moved.headers["location"]))
    for expected in (
        "Saved.",
        "Ana's dog is called Pippa.",
        "5 of 5",
        "pets",
        "at last",
        f"It replaced {DOG}",
    ):
        assert expected in shown
    await undo_first(pages, "/changes")
    assert DOG in text(await pages.get("/memories?standing=now"))
    assert "Pippa" not in text(await pages.get("/memories"))


async def test_a_form_sent_unchanged_changes_nothing(pages: Pages) -> None:
    page = await pages.get(f"/memories/{await key_of(pages, DOG)}")
    tags = re.search(r'name="tags" value="([^"]*)"', page.text)
    assert tags is not None
    form = {"content": DOG, "holds": "yes", "tags": unescape(tags[1]), "note": ""}
    for name in ("category", "kind", "importance"):
        block = page.text.split(f'name="{name}">')[1].split("</select>")[0]
        form[name] = re.search(r'value="(\w+)" selected', block)[1]  # type: ignore[index]
    moved = await pages.post(f"/memories/{await key_of(pages, DOG)}/edit", **form)
    assert "Nothing was changed" in text(await pages.client.get(moved.headers["location"]))
    assert not [
        one
        for one in await pages.site.memory.runtime.database.read(
            queries.decisions.of_user, (await pages.site.rows()).user, 10
        )
        if one.action in ("edited", "refiled")
    ]


async def test_merging_asks_which_memory_to_keep(pages: Pages) -> None:
    one, other = (
        await key_of(pages, DOG),
        await key_of(pages, "The boiler's serial number is 44 B 19."),
    )
    assert "Which memory should be kept?" in text(await pages.get(f"/merge?key={one}&key={other}"))
    moved = await pages.post("/merge", keys=f"{one},{other}", into=str(one))
    assert "Merged from The boiler" in text(await pages.client.get(moved.headers["location"]))
    assert "It was merged into" in text(await pages.get(f"/memories/{other}"))
    assert (await pages.get(f"/merge?key={one}")).status_code == 400


async def test_topics_are_renamed_merged_and_pinned(pages: Pages, memory: Memory) -> None:
    assert "None yet" in text(await pages.get("/subcategories"))
    for topic in ("plant care", "personal finance"):
        await store(memory, *statements(topic)[:12])
    await memory.subcategories.evolve("ana")
    first, second, *_ = [one.name for one in await memory.subcategories.of_user("ana")]
    assert first in text(await pages.get("/subcategories"))

    async def change(name: str, change: str, **fields: str) -> str:
        sent = {"category": "learnings", "name": name, "change": change} | fields
        answer = await pages.post("/subcategories", **sent)
        return text(await pages.client.get(answer.headers["location"]))

    assert "Saved." in await change(first, "rename", new_name="My <plants>")
    assert "My <plants>" in text(await pages.get("/subcategories"))
    assert "pinned" in await change(second, "pin")
    assert sum(one.pinned for one in await memory.subcategories.of_user("ana")) == 2
    await change(second, "unpin")
    await change(second, "merge", into="My <plants>")
    assert second not in [one.name for one in await memory.subcategories.of_user("ana")]
    assert "subcategories changed" in text(await pages.get("/changes"))
    assert (await pages.post("/subcategories", change="x")).status_code == 404
    assert (await pages.post("/subcategories", change="pin", category="x")).status_code == 400


async def test_deletion_is_confirmed_and_complete(pages: Pages, memory: Memory) -> None:
    key = await key_of(pages, DOG)
    assert "My dog is called Potola." in text(await pages.get(f"/forget?what=memory&key={key}"))
    shown = await pages.fingerprint(f"/forget?what=memory&key={key}")
    moved = await pages.post("/forget", what="memory", key=str(key), fingerprint=shown)
    assert "Deleted." in text(await pages.client.get(moved.headers["location"]))
    assert (await pages.get(f"/memories/{key}")).status_code == 404
    shown = await pages.fingerprint("/forget?what=everything")
    for wrong in ({"typed": "Ana", "fingerprint": shown}, {"typed": "ana"}):
        assert (await pages.post("/forget", what="everything", **wrong)).status_code == 400
    await pages.post("/forget", what="everything", typed="ana", fingerprint=shown)
    assert "Nothing is stored about this user yet." in text(await pages.get("/"))
    for path in (
        "/memories",
        "/conversations",
        "/names",
        "/replies",
        "/learning",
        "/changes",
        "/ask?q=dog",
    ):
        assert (await pages.get(path)).status_code == 200
    assert await memory.memories("ben")


async def test_a_fact_and_a_refiling_are_undone_under_changes(pages: Pages, memory: Memory) -> None:
    key = await key_of(pages, DOG)
    await pages.post(f"/memories/{key}/edit", category="projects", importance="5")
    changes = await pages.get("/changes?action=refiled")
    assert "category: " in text(changes) and "→ projects" in text(changes)
    await undo_first(pages, "/changes?action=refiled")
    assert {one.importance for one in await memory.memories("ana") if one.text == DOG} != {5}
    (row,) = (one for one in await memory.memories("ana") if one.text == DOG)
    assert f'value="{row.id}"' in (await pages.get("/changes?action=read")).text
    await pages.post("/undo", decision=row.id)
    assert DOG not in {one.text for one in await memory.memories("ana")}
    assert "It was withdrawn" in text(await pages.get(f"/memories/{key}"))
    await undo_first(pages, "/changes?action=undone")
    assert DOG in {one.text for one in await memory.memories("ana")}
    assert (await pages.get("/changes?action=eaten")).status_code == 400


async def test_only_what_was_shown_is_deleted(pages: Pages, memory: Memory) -> None:
    shown = await pages.fingerprint("/forget?what=everything")
    await memory.store_memory("The lamp is new.", user_id="ana")
    late = await pages.post("/forget", what="everything", typed="ana", fingerprint=shown)
    assert late.status_code == 400 and "has changed" in late.text
    assert "The lamp is new." in {one.text for one in await memory.memories("ana")}


@pytest.mark.parametrize(("path", "expected"), CASES["invalid_requests_are_reported"])
async def test_invalid_requests_are_reported(pages: Pages, path: str, expected: str) -> None:
    page = await pages.get(path)
    assert page.status_code == 400
    assert expected in page.text and "<b>" not in page.text.split("<main")[1]


@pytest.mark.parametrize("path", CASES["missing_rows_are_not_found"])
async def test_missing_rows_are_not_found(pages: Pages, path: str) -> None:
    assert (await pages.get(path)).status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"until": "soon"},
        {"importance": "9"},
        {"content": ""},
        {"category": "cake"},
        {"tags": "x" * 61},
    ],
)
async def test_invalid_changes_are_reported(pages: Pages, fields: dict[str, str]) -> None:
    page = await pages.post(f"/memories/{await key_of(pages, DOG)}/edit", **fields)
    assert page.status_code == 400
    assert DOG in text(await pages.get("/memories"))


async def test_hostile_text_is_escaped(pages: Pages, memory: Memory) -> None:
    hostile = "<script>alert(1)</script> \u202e{{ 7*7 }} ' onmouseover='x"
    stored = await memory.store_memory(
        hostile, user_id="ana", context={"tags": ["<b>tag</b>"], "note": "</p><img src=x>"}
    )
    key = (await (await pages.site.rows()).read(memories.by_names, [stored.id]))[stored.id].key
    for path in (
        f"/memories/{key}",
        "/memories",
        "/",
        f"/forget?what=memory&key={key}",
        f"/merge?key={key}&key={await key_of(pages, DOG)}",
        "/changes",
    ):
        page = (await pages.get(path)).text
        assert (
            "&lt;script&gt;" in page
            and "<script" not in page
            and "<img src=x" not in page
            and "<b>tag" not in page
            and ">49<" not in page
        )


async def test_lists_are_paged_to_their_end_and_back(pages: Pages, memory: Memory) -> None:
    for number in range(230):
        await memory.remember(said(f"Number {number}.", session="long", minutes=100 + number % 7))
    rows = await pages.site.rows()
    session = (await rows.read(conversations.sessions, None, 1)).rows[0]
    assert session.id == "long"
    seen: list[str] = []
    path: str | None = f"/conversations/{session.key}"
    last = ""
    while path is not None:
        page = (await pages.get(path)).text
        seen += re.findall(r"Number \d+\.", page.split(">Turns<")[1])
        onward = re.search(rf'rel="next" href="/{pages.site.token}([^"]+)"', page)
        last, path = path, unescape(onward[1]) if onward else None
    assert len(seen) == len(set(seen)) == 230
    back = re.search(rf'rel="prev" href="/{pages.site.token}([^"]+)"', (await pages.get(last)).text)
    assert back is not None
    assert seen[100] in (await pages.get(unescape(back[1]))).text


async def test_invalid_stored_weights_are_reported(pages: Pages, memory: Memory) -> None:
    def nonsense(conn: Connection) -> None:
        user = conn.scalar("SELECT id FROM users WHERE public_id = 'ana'")
        conn.execute("DELETE FROM weights WHERE user_key = ?", (user,))
        rows = (("facts", "much", 1), ("sessions", -7.0, 2**62), ("telepathy", 1.0, 1))
        conn.executemany(
            "INSERT INTO weights (user_key, layer, weight, updated_at) VALUES (?, ?, ?, ?)",
            [(user, *row) for row in rows],
        )

    await memory.runtime.database.write_all(nonsense)
    shown = text(await pages.get("/learning"))
    assert (
        "the file has 'much', not 0.1 to 1.5" in shown
        and "'-7.0'" in shown
        and "telepathy" in shown
    )


async def test_years_of_replies_and_a_clock_that_jumped(pages: Pages, memory: Memory) -> None:
    now = datetime.now(UTC)
    moments = [
        now + timedelta(days=4000),
        datetime(1971, 1, 1, tzinfo=UTC),
        *(now - timedelta(days=31 * month) for month in range(62)),
    ]
    for number, at in enumerate(moments):
        block = await memory.recall(
            "What's my dog called?", user_id="ana", session_id=f"year {number}", at=at
        )
        await memory.feedback(block, reply="Potola")
    shown = text(page := await pages.get("/learning?span=all"))
    assert "a clock was wrong" in shown and "1971" in shown
    assert "History of the weights" in shown and page.text.count('<svg class="plot"') == 4
    assert len(re.findall(r"\b\d+ ms\b", shown)) < 60
    assert "a clock was wrong" in text(await pages.get("/learning?span=month"))


async def test_reads_and_changes_are_in_the_audit_log(pages: Pages, memory: Memory) -> None:
    before = len(
        await memory.runtime.database.read_all(queries.retention.entries, "ana", None, None, 1000)
    )
    number = await key_of(pages, DOG)
    await pages.get("/")
    await pages.get(f"/memories/{number}")
    await pages.get("/memories?words=potola")
    await pages.get("/nothing")
    await pages.post(f"/memories/{number}/edit", importance="5")
    shown = await pages.fingerprint(f"/forget?what=memory&key={number}")
    await pages.post("/forget", what="memory", key=str(number), fingerprint=shown)
    found = (
        await memory.runtime.database.read_all(queries.retention.entries, "ana", None, None, 1000)
    )[::-1][before:]
    assert {one.who for one in found} == {Actor.INSPECTOR}
    assert [(one.act.action, one.act.what) for one in found] == [
        (Action.READ, "overview"),
        (Action.READ, "memories"),
        (Action.READ, "memories"),
        (Action.CHANGE, "memories"),
        (Action.READ, "forget"),
        (Action.FORGET, "memory"),
    ]
