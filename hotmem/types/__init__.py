"""The data between the stages, in the order of the path. Everything here is immutable.

Turn → Understanding → SessionSummary                                       (write path)
utterance → Analysis → Query → Hit → Evidence → Item → ContextBlock         (read path)
reply → Usage → Weights                                                     (feedback path)
"""

from hotmem.types.block import ContextBlock, Item, ItemUse, LayerReport, Trace, Usage
from hotmem.types.reading import START_WEIGHTS, Analysis, Evidence, Hit, Interval, Profile, Query, Rewrite, Weights
from hotmem.types.upkeep import Fault, Period, Stats
from hotmem.types.vocabulary import (
    Category,
    Complexity,
    EvidenceKind,
    Form,
    Intent,
    Kind,
    Layer,
    LayerOutcome,
    Mark,
    Role,
    Signs,
    UsageKind,
    UserKey,
    Vector,
)
from hotmem.types.writing import (
    Correction,
    Decision,
    Forgotten,
    Note,
    Revision,
    SessionSummary,
    Standing,
    Statement,
    StoredMemory,
    SummarySentence,
    Turn,
    Understanding,
    aware,
)

__all__ = [
    "START_WEIGHTS",
    "Analysis",
    "Category",
    "Complexity",
    "ContextBlock",
    "Correction",
    "Decision",
    "Evidence",
    "EvidenceKind",
    "Fault",
    "Forgotten",
    "Form",
    "Hit",
    "Intent",
    "Interval",
    "Item",
    "ItemUse",
    "Kind",
    "Layer",
    "LayerOutcome",
    "LayerReport",
    "Mark",
    "Note",
    "Period",
    "Profile",
    "Query",
    "Revision",
    "Rewrite",
    "Role",
    "SessionSummary",
    "Signs",
    "Standing",
    "Statement",
    "Stats",
    "StoredMemory",
    "SummarySentence",
    "Trace",
    "Turn",
    "Understanding",
    "Usage",
    "UsageKind",
    "UserKey",
    "Vector",
    "Weights",
    "aware",
]
