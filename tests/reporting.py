"""What a run of the tests says at its end, as a plugin of pytest."""

import pytest

from tests.scored import PROPERTY


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the cases of scored tests that do not hold."""
    reports = terminalreporter.getreports("passed")
    listed = [
        f"{report.nodeid}: {text}"
        for report in reports
        for name, text in report.user_properties
        if name == PROPERTY
    ]
    if listed:
        terminalreporter.section("cases that do not hold")
        for text in listed:
            terminalreporter.line(text)
