"""The browser bot end to end: its page in headless Chromium, with a recording as the microphone.

Run by `make test-browser`.
"""

import asyncio
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest
import soundfile
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from hotmem import Memory
from pipelines.bot import SAMPLE_RATE
from pipelines.recording import load_sessions, read_audio
from pipelines.replay import DEMO

TIMEOUT_S = 60
CHROMIUM_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1000,800",
    "--autoplay-policy=no-user-gesture-required",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
)


@pytest.fixture
def microphone(tmp_path: Path) -> Path:
    """A recording of two utterances about Daniel and his dog, with pauses."""
    pause = np.zeros(8 * SAMPLE_RATE, np.int16)
    said = [read_audio(utterance.path) for utterance in load_sessions(DEMO)[0].utterances[:2]]
    path = tmp_path / "microphone.wav"
    soundfile.write(
        path,
        np.concatenate([pause[: 3 * SAMPLE_RATE], said[0], pause, said[1], pause, pause]),
        SAMPLE_RATE,
        subtype="PCM_16",
    )
    return path


async def known(path: Path) -> None:
    async with Memory.open(path) as memory:
        await memory.store_memory("My dog Rocky barks at the postman.", user_id="me")
        await memory.settle()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a bot in a subprocess, which knows the dog from before."""
    asyncio.run(known(tmp_path / "memory.db"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "pipelines.browser", "--port", str(port), "--name", "Daniel"]
    command += ["--database", str(tmp_path / "memory.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bot:
        assert bot.stdout is not None
        assert any("Open http://localhost" in line for line in bot.stdout)
        time.sleep(0.5)
        yield f"http://localhost:{port}/"
        bot.terminate()


@pytest.fixture
def chromium(microphone: Path) -> Iterator[WebDriver]:
    options = webdriver.ChromeOptions()
    for flag in (*CHROMIUM_OPTIONS, f"--use-file-for-fake-audio-capture={microphone}%noloop"):
        options.add_argument(flag)
    found = shutil.which("chromedriver")
    driver = webdriver.Chrome(options=options, service=Service(found) if found else Service())
    yield driver
    driver.quit()


def texts(page: WebDriver, selector: str) -> list[str]:
    return [found.text for found in page.find_elements(By.CSS_SELECTOR, selector)]


def test_conversation_with_context_blocks(
    chromium: WebDriver, address: str, tmp_path: Path
) -> None:
    chromium.get(address)
    assert chromium.title == "HotMem"
    chromium.switch_to.active_element.send_keys(Keys.TAB, Keys.ENTER)
    wait = WebDriverWait(chromium, TIMEOUT_S)
    wait.until(lambda page: texts(page, "#state") == ["listening"])
    wait.until(lambda page: len(texts(page, "article")) == 2)
    utterances = texts(chromium, ".utterance")
    assert "nurse" in utterances[0] and "Rocky" in utterances[1]
    assert all(texts(chromium, ".reply"))
    chromium.find_elements(By.CSS_SELECTOR, "summary")[-1].click()
    block = texts(chromium, "pre")[-1]
    assert "<memory>" in block and "barks at the postman" in block
    chromium.save_screenshot(str(tmp_path / "page.png"))
    loaded = chromium.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    )
    assert {urlparse(name).netloc for name in loaded} == {urlparse(address).netloc}, (
        "loads nothing from other hosts"
    )
    chromium.find_element(By.ID, "connect").click()
    wait.until(lambda page: texts(page, "#connect") == ["Connect"])
