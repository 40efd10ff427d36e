"""The inspector in headless Chromium, served as a user starts it.

Every page, an edit, a merge, and a forget by keyboard alone.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.test_page import CHROMIUM_OPTIONS, TIMEOUT_S, texts
from tests.conversation import OpenMemory, life, said

PAGES = ("Overview", "Memories", "Conversations", "Names", "Ask", "Replies", "Learning", "Changes")

MOST_TABS = 400
"""Presses of the tab key after which something cannot be reached by it."""

CAR, SAME_CAR = "I drive a grey Skoda Octavia.", "My own vehicle is one of those Octavias, grey."


@pytest.fixture
def told(tmp_path: Path, open_memory: OpenMemory) -> Path:
    """A file with some sessions, two memories that say the same, and a reply."""
    path = tmp_path / "memory.db"

    async def tell() -> None:
        async with open_memory(path) as memory:
            for turn in (
                *life(turns=45),
                said("My dog is called Paola.", session="dog", minutes=90_000),
            ):
                await memory.remember(turn)
            for session in ("week 0", "week 1", "week 2", "dog"):
                await memory.end_session(user_id="ana", session_id=session)
            await memory.settle()
            for text in (CAR, SAME_CAR):
                await memory.store_memory(text, user_id="ana", context={"tags": ["fleet"]})
            block = await memory.recall("What's my dog called?", user_id="ana", session_id="dog")
            await memory.feedback(block, reply="She's called Paola!")

    asyncio.run(tell())
    return path


@pytest.fixture
def address(told: Path) -> Iterator[str]:
    """The address that the command prints."""
    command = [sys.executable, "-m", "hotmem.cli.app", "inspect", str(told), "--user", "ana"]
    surroundings = os.environ | {
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "200",
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings) as serving:
        assert serving.stdout is not None
        yield next(
            found[0]
            for line in serving.stdout
            if (found := re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line))
        )
        serving.terminate()


@pytest.fixture
def chromium() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in CHROMIUM_OPTIONS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    found = shutil.which("chromedriver")
    driver = webdriver.Chrome(options=options, service=Service(found) if found else Service())
    yield driver
    driver.quit()


def asked_for(page: webdriver.Chrome) -> set[str]:
    """Every address that the browser asked for since the last look, but for its own pages."""
    messages = (json.loads(entry["message"])["message"] for entry in page.get_log("performance"))
    sent = (
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    )
    return {url for url in sent if not url.startswith(("chrome:", "data:"))}


def nameless(page: webdriver.Chrome) -> list[str]:
    """Links, buttons and fields that a screen reader could not name."""
    tree = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {
        "link",
        "button",
        "textbox",
        "searchbox",
        "combobox",
        "checkbox",
        "radio",
        "image",
        "spinbutton",
        "Date",
    }
    return [
        str(node["role"]["value"])
        for node in tree
        if not node.get("ignored")
        and node["role"]["value"] in roles
        and not node.get("name", {}).get("value", "").strip()
    ]


@contextmanager
def leaving(page: webdriver.Chrome) -> Iterator[None]:
    """Waits until what is done leads to another page."""
    before = page.find_element(By.TAG_NAME, "html")
    yield
    WebDriverWait(page, TIMEOUT_S).until(staleness_of(before))


def follow(page: webdriver.Chrome, words: str) -> None:
    with leaving(page):
        page.find_element(By.PARTIAL_LINK_TEXT, words).click()


def press(page: webdriver.Chrome, words: str) -> None:
    with leaving(page):
        page.find_element(By.XPATH, f"//button[contains(., '{words}')]").click()


def enter(page: webdriver.Chrome) -> None:
    with leaving(page):
        page.switch_to.active_element.send_keys(Keys.ENTER)


def tab_to(page: webdriver.Chrome, words: str) -> None:
    """Moves the focus to what is called so by the tab key alone."""
    for _ in range(MOST_TABS):
        page.switch_to.active_element.send_keys(Keys.TAB)
        focus = page.switch_to.active_element
        if words in (focus.text or focus.get_attribute("value") or ""):
            return
    raise AssertionError(f"{words} is not reached by keyboard")


def test_every_page_is_walked_and_loads_nothing_from_outside(
    chromium: webdriver.Chrome, address: str
) -> None:
    chromium.get(address)
    waiting, walked = [], set()
    for name in PAGES:
        follow(chromium, name)
        assert texts(chromium, "nav a[aria-current]") == [name]
        waiting.append(chromium.current_url)
    while waiting:
        chromium.get(link := waiting.pop())
        assert not re.search(
            r"could not be made|There is nothing here", texts(chromium, "main")[0]
        ), link
        assert not nameless(chromium), link
        for href in (
            urljoin(address, one.get_dom_attribute("href"))
            for one in chromium.find_elements(By.CSS_SELECTOR, "main a")
        ):
            assert href.startswith(address)
            shape = re.sub(r"\d+", "1", href.removeprefix(address).partition("?")[0])
            if shape not in walked:
                walked.add(shape)
                waiting.append(href)
    assert {"memories/1", "conversations/1", "turns/1", "names/1", "replies/1", "forget"} <= walked
    chromium.get(f"{address}ask?q=What+is+my+dog+called&dropped=yes")
    assert "Paola" in texts(chromium, "main")[0]
    chromium.get(f"{address}learning")
    plots = chromium.find_elements(By.CSS_SELECTOR, "svg.plot")
    assert plots and all(plot.size["height"] > 100 for plot in plots)
    asked = asked_for(chromium)
    assert {f"{address}style.css", f"{address}icon.svg"} <= asked
    assert {url for url in asked if not url.startswith(address)} == set()
    assert chromium.get_log("browser") == []
    blocked = (
        "fetch('http://127.0.0.2/')"
        ".then(() => arguments[0]('loaded'), () => arguments[0]('blocked'))"
    )
    assert chromium.execute_async_script(blocked) == "blocked"
    assert "Content Security Policy" in str(chromium.get_log("browser"))


def test_a_narrow_screen_is_read_downwards(chromium: webdriver.Chrome, address: str) -> None:
    narrow = {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    for path in (
        "",
        "memories",
        "memories/1",
        "conversations",
        "names",
        "ask?q=What+is+my+dog+called",
        "replies",
        "replies/1",
        "learning",
        "changes",
    ):
        chromium.get(f"{address}{path}")
        assert (
            chromium.execute_script("return document.documentElement.scrollWidth")
            <= narrow["width"]
        ), path
        assert all(
            cell.size["width"] > narrow["width"] / 2
            for cell in chromium.find_elements(By.CSS_SELECTOR, "tbody .main")[:3]
        ), path


def test_the_first_key_leads_past_the_menu(chromium: webdriver.Chrome, address: str) -> None:
    chromium.get(f"{address}memories")
    tab_to(chromium, "Skip to the content")
    skip = chromium.switch_to.active_element
    assert (
        skip.rect["x"] >= 0
        and chromium.execute_script("return getComputedStyle(arguments[0]).outlineStyle", skip)
        != "none"
    )
    webdriver.ActionChains(chromium).send_keys(Keys.ENTER, Keys.TAB).perform()
    assert chromium.switch_to.active_element.get_attribute("name") == "words"


def test_an_edit_and_a_merge_and_their_undoing(chromium: webdriver.Chrome, address: str) -> None:
    chromium.get(f"{address}memories?words=Paola")
    follow(chromium, "called Paola")
    field = chromium.find_element(By.NAME, "content")
    field.clear()
    field.send_keys("Ana's dog is called Potola.")
    press(chromium, "Save")
    assert texts(chromium, "h1") == ["Ana's dog is called Potola."]
    assert texts(chromium, "[role=status]") == ["Saved."]
    assert "My dog is called Paola." in texts(chromium, "blockquote")[0]

    chromium.get(f"{address}memories?tag=fleet")
    for box in chromium.find_elements(By.NAME, "key"):
        box.click()
    press(chromium, "Merge selected")
    chromium.find_elements(By.NAME, "into")[1].click()
    stays = texts(chromium, ".choice .words")[1]
    press(chromium, "Merge into this memory")
    assert texts(chromium, "h1") == [stays]
    chromium.get(f"{address}memories?tag=fleet")
    assert texts(chromium, "tbody a.words") == [stays]

    for action in ("merged", "edited"):
        chromium.get(f"{address}changes?action={action}")
        press(chromium, "Undo")
    chromium.get(f"{address}memories?tag=fleet")
    assert set(texts(chromium, "tbody a.words")) == {CAR, SAME_CAR}
    chromium.get(f"{address}memories?standing=now&words=dog")
    assert any("Paola" in text for text in texts(chromium, "tbody a.words"))


def test_a_memory_is_forgotten_by_keyboard_alone(chromium: webdriver.Chrome, address: str) -> None:
    chromium.get(f"{address}memories?words=Paola")
    tab_to(chromium, "called Paola")
    enter(chromium)
    tab_to(chromium, "Delete this memory")
    enter(chromium)
    assert texts(chromium, "h1") == ["Delete this memory permanently?"]
    assert "My dog is called Paola." in texts(chromium, "main")[0]
    tab_to(chromium, "Delete")
    enter(chromium)
    assert "Deleted." in texts(chromium, "[role=status]")[0]
    for path in ("memories?words=Paola", "names?begins=Paola", "ask?q=Who+is+that+dog", "replies"):
        chromium.get(f"{address}{path}")
        assert "Paola" not in texts(chromium, "main")[0], path
