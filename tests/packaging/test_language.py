"""The source and the documentation are in plain technical English.

Words of an earlier private vocabulary must not come back: a reader should know every name from the
literature of the field, or from docs/glossary.md.
"""

import re
from typing import Final

import pytest

from tests.packaging.source import ROOT, Module, modules, names, prose

OLD_NAMES: Final = re.compile(
    r"\b(lanes?|shel(f|ves)|whose|takebacks?|taken? in|let go|in sight|at hand|foresee\w*|parting|"
    r"outright|doors?|signs of knowing|give way|gives way|by heart|told|telling|"
    r"surroundings|inherited|sayings|retold|retelling|stopwatch|lap|outbox)\b"
)
"""In identifiers, split into words. What replaces them is in docs/glossary.md."""

OLD_PHRASES: Final = re.compile(
    r"\b(lanes?|shel(f|ves)|takebacks?|taken? in|takes in|lets? go|letting go|in sight|at hand|"
    r"foresee\w*|parting|outright|signs of knowing|g[ai]ves? way|giving way|by heart|whoever|lest|"
    r"others'|of one's own|is what it is|makes? way for)\b",
    re.IGNORECASE,
)
"""In docstrings, comments, error messages, help texts and documentation."""

DOCUMENTS: Final = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
)

MODULES: Final = modules()
BY_PACKAGE: Final = {
    package: [module for module in MODULES.values() if module.package == package]
    for package in sorted({module.package for module in MODULES.values()})
}


def old_words(module: Module) -> list[str]:
    """Where a module still uses the earlier vocabulary."""
    found = [(line, words) for line, words in names(module) if OLD_NAMES.search(words)]
    found += [(line, text) for line, text in prose(module) if OLD_PHRASES.search(text)]
    return [f"{module.path.relative_to(ROOT)}:{line}: {text.strip()}" for line, text in found]


@pytest.mark.parametrize("package", BY_PACKAGE)
def test_names_and_texts_are_in_the_terms_of_the_field(package: str) -> None:
    found = [place for module in BY_PACKAGE[package] for place in old_words(module)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documentation_is_in_the_terms_of_the_field(document: str) -> None:
    lines = (ROOT / document).read_text("utf-8").splitlines()
    found = [
        f"{document}:{number}: {line}"
        for number, line in enumerate(lines, 1)
        if OLD_PHRASES.search(line)
    ]
    assert not found, "\n".join(found)
