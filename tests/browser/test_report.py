"""The report of `hotmem eval` in headless Chromium.

It is drawn, fits a narrow window, and loads nothing. Run by `make test-browser`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from hotmem.replay.report import render_report
from tests.replay.test_comparison import of, studied


@pytest.fixture
def chromium() -> Iterator[WebDriver]:
    options = webdriver.ChromeOptions()
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ):
        options.add_argument(flag)
    found = shutil.which("chromedriver")
    driver = webdriver.Chrome(options=options, service=Service(found) if found else Service())
    yield driver
    driver.quit()


@pytest.mark.parametrize("width", [1200, 600])
def test_the_report_is_drawn_and_loads_nothing(
    chromium: WebDriver, tmp_path: Path, width: int
) -> None:
    rows = [
        ((0.3 + number % 3 / 10, 700), (0.5 + number % 3 / 10, 800), (0.1, 100))
        for number in range(60)
    ]
    page = tmp_path / "report.html"
    page.write_text(render_report(studied(of(*rows))), "utf-8")
    chromium.set_window_size(width, 900)
    chromium.get(page.as_uri())
    assert chromium.title == "Which memory settings suit ana?"
    assert (
        chromium.find_element(By.CSS_SELECTOR, ".answer strong").text
        == "Better: 1 characters around a passage"
    )
    assert "HOTMEM_VERBATIM_CONTEXT_WINDOW=1" in chromium.find_element(By.TAG_NAME, "pre").text
    plots = chromium.find_elements(By.CSS_SELECTOR, "figure > svg")
    assert len(plots) == 3 and all(plot.size["height"] > 100 for plot in plots)
    assert chromium.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert chromium.execute_script(
        "return document.documentElement.scrollWidth <= window.innerWidth"
    )
