"""The documented examples of every relation."""

from importlib.resources import files

from hotmem.models import Language
from hotmem.types import Statement
from hotmem.understanding.facts import relations
from hotmem.understanding.facts.relations import Relation
from tests.conversation import read_facts
from tests.scored import scored

TABLE = {
    name: relation for name, relation in vars(relations).items() if isinstance(relation, Relation)
}

CELLS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in files("hotmem.understanding.facts")
    .joinpath("RELATIONS.md")
    .read_text("utf-8")
    .splitlines()
    if line.startswith("| ") and not line.startswith("| relation")
]
ROWS = [cells for cells in CELLS if len(cells) == 4]
ALSO = [cells for cells in CELLS if len(cells) == 3]


def read(language: Language, said: str) -> tuple[Statement, ...]:
    return read_facts(language, said).statements


def test_every_relation_is_documented() -> None:
    assert [name for name, *_ in ROWS] == list(dict.fromkeys(name for name, *_ in ROWS))
    assert {name for name, *_ in ROWS} == TABLE.keys()


@scored(("name", "values", "said", "kept"), ROWS)
def test_an_example_is_stored_as_documented(
    language: Language, name: str, values: str, said: str, kept: str
) -> None:
    found = read(language, said)
    assert " ".join(one.text for one in found) == kept
    assert {(one.relation, one.single) for one in found} == {(TABLE[name].name, values == "one")}
    assert TABLE[name].single is (values == "one")


@scored(("name", "said", "kept"), ALSO)
def test_other_wordings_are_stored_as_documented(
    language: Language, name: str, said: str, kept: str
) -> None:
    found = read(language, said)
    assert " ".join(one.text for one in found) == kept
    assert {one.relation for one in found} == {TABLE[name].name}
