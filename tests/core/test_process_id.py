"""Processes are known by their machine, its boot and their number."""

import os
import subprocess
import sys
import time

import pytest

from hotmem.core import threads
from hotmem.core.threads import has_died, new_process_id


def of_another(pid: int) -> str:
    """The id of a process of this machine."""
    machine, _, token = new_process_id().split("/")
    return f"{machine}/{pid}/{token}"


def test_ids_are_unique_and_of_a_live_process() -> None:
    one, other = new_process_id(), new_process_id()
    assert one != other and not has_died(one)


def test_a_process_that_ended_has_died() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    named = of_another(child.pid)
    assert not has_died(named)
    child.communicate(b"\n")
    assert has_died(named)


def test_a_zombie_has_died() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    until = time.monotonic() + 10
    while not has_died(of_another(child.pid)) and time.monotonic() < until:
        time.sleep(0.01)
    assert child.returncode is None, "nobody has waited for it"
    assert has_died(of_another(child.pid))
    child.wait()


@pytest.mark.parametrize("foreign", ["elsewhere/1/x", "", "a", "elsewhere/x/y"])
def test_processes_of_other_machines_are_never_said_to_have_died(foreign: str) -> None:
    assert not has_died(foreign)


def test_a_container_with_the_same_name_is_another_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = of_another(2**22 - 1)
    assert has_died(named)
    monkeypatch.setattr(threads, "_machine", lambda: f"{os.uname().nodename}.other boot")
    assert not has_died(named)
