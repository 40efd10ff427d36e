"""Development dependencies are pinned by checksum."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    found = PIN.findall((ROOT / name).read_text("utf-8"))
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in found}


def test_constraints_and_requirements_have_the_same_versions() -> None:
    constraints, requirements = pins("constraints.txt"), pins("requirements.txt")
    assert len(requirements) > 100 and "torch" not in requirements
    only = {"setuptools"}  # what torch wants of it; nothing of ours
    assert {
        name: version
        for name, version in requirements.items()
        if constraints.get(name) != version and name not in only
    } == {}


def test_every_package_has_a_checksum() -> None:
    parts = re.split(r"\n(?=\S)", (ROOT / "requirements.txt").read_text("utf-8").strip())
    assert [
        part.partition(" ")[0]
        for part in parts[1:]
        if not re.search(r"--hash=sha256:[0-9a-f]{64}", part)
    ] == []
