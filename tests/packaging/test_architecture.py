"""The layering that docs/architecture.md describes holds in the source."""

import re
from graphlib import CycleError, TopologicalSorter
from typing import Final

import pytest

from tests.packaging.source import ROOT, imports, modules

LAYERS: Final = (
    ("errors",),
    ("core",),
    ("text",),
    ("types",),
    ("options",),
    ("temporal",),
    ("models",),
    ("understanding",),
    ("revision",),
    ("storage",),
    ("retrieval",),
    ("ranking",),
    ("block",),
    ("feedback",),
    ("consolidation",),
    ("portability",),
    ("session_start",),
    ("recall", "remember", "readings"),
    ("operations",),
    ("extractor", "model_calls", "topic_namer", "job_runner", "worker"),
    ("settings", "memory"),
    ("tools",),
    ("cli", "inspector", "pipecat", "replay"),
)
"""Packages and top modules from the bottom up; those of one layer may import each other."""

UPWARD: Final = {
    ("core.logs", "text.escaping"),
    ("text.answer_types", "types"),
}
"""Imports against the layering that are left. Remove an entry when its import is gone."""

RANK: Final = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}

KNOWN: Final = modules()
PACKAGES: Final = {module.package for module in KNOWN.values()} - {""}
GRAPH: Final = {name: imports(module, KNOWN) for name, module in KNOWN.items()}


def test_no_module_imports_itself_by_a_cycle() -> None:
    graph = {name: imports(module, KNOWN, for_types=False) for name, module in KNOWN.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_every_package_has_a_layer() -> None:
    assert RANK.keys() == PACKAGES


def test_no_package_imports_a_higher_one() -> None:
    upward = {
        (name, imported)
        for name, found in GRAPH.items()
        for imported in found
        if name and imported and RANK[KNOWN[imported].package] > RANK[KNOWN[name].package]
    }
    assert upward - UPWARD == set(), "imports a package of a higher layer"
    assert UPWARD - upward == set(), "is gone: remove it from UPWARD"


def test_only_programs_import_the_public_package() -> None:
    """`import hotmem` inside the package would make every module depend on the public names."""
    programs = {"cli", "inspector", "pipecat", "replay"}
    assert {
        name for name, found in GRAPH.items() if "" in found and KNOWN[name].package not in programs
    } == set()


def test_only_the_storage_package_speaks_sql() -> None:
    statement = re.compile(
        r"\b(SELECT\b.+\bFROM|INSERT (OR \w+ )?INTO|DELETE FROM|UPDATE \w+ SET)\b"
    )
    assert [
        name
        for name, module in KNOWN.items()
        if module.package != "storage" and statement.search(module.source)
    ] == []


def test_query_functions_know_no_engine() -> None:
    """Their SQL is one text for all engines, see `hotmem.storage.dialect`."""
    shared = ("storage.queries.", "storage.inspection.", "storage.search.")
    engines = ("storage.sqlite", "storage.postgres")
    of_one_engine = re.compile(
        r"json_each\([?:]|json_extract|json_array\(|group_concat|string_agg|\binstr\(|\bstrftime\("
        r"|\b(INSERT|UPDATE) OR |\bPRAGMA |\bpragma_|sqlite_master|\browid\b|COLLATE|LIMIT -1"
        r"|::(BIGINT|TEXT)"
    )
    names = [name for name in KNOWN if name.startswith(shared)]
    assert names
    assert [name for name in names if of_one_engine.search(KNOWN[name].source)] == []
    assert [
        (name, found) for name in names for found in GRAPH[name] if found.startswith(engines)
    ] == []


def test_the_architecture_page_lists_the_layers_in_this_order() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| (`hotmem/.*?) \|", text, re.MULTILINE)
    listed = [
        {name for name in re.findall(r"`hotmem/(\w+)", row) if name in PACKAGES} for row in rows
    ]
    assert listed == [set(layer) & PACKAGES for layer in LAYERS]
