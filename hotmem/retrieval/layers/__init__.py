"""The layers: ways of searching, each an analysed query in, hits out. One module a layer.

`docs/architecture.md` says how to add one.
"""

from collections.abc import Collection
from typing import Final

from hotmem.retrieval.layers.base import LayerSearch
from hotmem.retrieval.layers.facts import Facts
from hotmem.retrieval.layers.semantic import Semantic
from hotmem.retrieval.layers.sessions import Sessions
from hotmem.retrieval.layers.verbatim import Verbatim
from hotmem.storage.search.engine import SearchEngine
from hotmem.types import Layer

LAYER_SEARCHES: Final = (Facts, Sessions, Semantic, Verbatim)


def create_layers(engine: SearchEngine, enabled: Collection[Layer]) -> list[LayerSearch]:
    """The searches of the enabled layers."""
    searches: list[LayerSearch] = [search(engine) for search in LAYER_SEARCHES]
    return [search for search in searches if search.layer in enabled]
