"""Immutable data between the stages, one module per data path.

Turn → Understanding → SessionSummary                                       (write path)
utterance → Analysis → Query → Hit → Evidence → Item → ContextBlock         (read path)
reply → Usage → QualityRecord, Weights                                      (feedback path)
"""

from typing import TYPE_CHECKING

from hotmem.types.audit import Act, Action, Actor, AuditEntry
from hotmem.types.block import ContextBlock, Item, ItemUse, LayerReport, Trace, Usage
from hotmem.types.evolution import (
    CategoryMembers,
    EvolutionDraft,
    EvolutionResult,
    FormerSubcategory,
    Subcategory,
    SubcategoryDraft,
)
from hotmem.types.extraction import (
    ExtractionBatch,
    ExtractionCosts,
    ExtractionOutcome,
    ExtractionResult,
)
from hotmem.types.forgetting import ForgetResult, Leftovers, Restorable
from hotmem.types.maintenance import (
    Diagnosis,
    FailedJob,
    Fault,
    Finding,
    JobKind,
    Overdue,
    Period,
    Stats,
    TagUse,
)
from hotmem.types.memories import (
    Decision,
    InsertedMemory,
    KnownSubjects,
    MemoryChange,
    MemoryMetadata,
    NewMemory,
    RevisedMemory,
    Revision,
    StoredMemory,
    Supersession,
    UndoResult,
)
from hotmem.types.portability import (
    EvolutionRecord,
    ExportedTurn,
    ImportRecord,
    ImportResult,
    MemoryRecord,
    SourceSpan,
    SubcategoryRecord,
    SummaryRecord,
    UserRecord,
    WeightsRecord,
)
from hotmem.types.quality import Latencies, Quality, QualityRecord, Tally
from hotmem.types.recall import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    NO_OFFSET,
    START_WEIGHTS,
    Analysis,
    Evidence,
    Hit,
    IntentOffset,
    Interval,
    LearningState,
    Profile,
    Query,
    Quote,
    Rewrite,
    TimedWords,
    Weights,
    WeightSnapshot,
)
from hotmem.types.sessions import (
    SessionSummary,
    SessionTitle,
    SummaryInput,
    SummarySentence,
    Topic,
)
from hotmem.types.turns import Turn, aware
from hotmem.types.understanding import (
    Correction,
    EventTime,
    Statement,
    Termination,
    TurnContext,
    Understanding,
)
from hotmem.types.usage_stats import (
    AnsweredRecall,
    Label,
    LabelMentions,
    LocatedRow,
    UseCount,
    UsedMemory,
)
from hotmem.types.vocabulary import (
    AnswerType,
    Category,
    Complexity,
    DecisionAction,
    EvidenceKind,
    Intent,
    Kind,
    Layer,
    LayerOutcome,
    Mark,
    QueryVectors,
    Role,
    Source,
    UsageKind,
    UserKey,
)

if TYPE_CHECKING:
    from hotmem.types.arrays import SignBits, Vector

__all__ = [
    "MAX_WEIGHT",
    "MIN_WEIGHT",
    "NO_OFFSET",
    "START_WEIGHTS",
    "Act",
    "Action",
    "Actor",
    "Analysis",
    "AnswerType",
    "AnsweredRecall",
    "AuditEntry",
    "Category",
    "CategoryMembers",
    "Complexity",
    "ContextBlock",
    "Correction",
    "Decision",
    "DecisionAction",
    "Diagnosis",
    "EventTime",
    "Evidence",
    "EvidenceKind",
    "EvolutionDraft",
    "EvolutionRecord",
    "EvolutionResult",
    "ExportedTurn",
    "ExtractionBatch",
    "ExtractionCosts",
    "ExtractionOutcome",
    "ExtractionResult",
    "FailedJob",
    "Fault",
    "Finding",
    "ForgetResult",
    "FormerSubcategory",
    "Hit",
    "ImportRecord",
    "ImportResult",
    "InsertedMemory",
    "Intent",
    "IntentOffset",
    "Interval",
    "Item",
    "ItemUse",
    "JobKind",
    "Kind",
    "KnownSubjects",
    "Label",
    "LabelMentions",
    "Latencies",
    "Layer",
    "LayerOutcome",
    "LayerReport",
    "LearningState",
    "Leftovers",
    "LocatedRow",
    "Mark",
    "MemoryChange",
    "MemoryMetadata",
    "MemoryRecord",
    "NewMemory",
    "Overdue",
    "Period",
    "Profile",
    "Quality",
    "QualityRecord",
    "Query",
    "QueryVectors",
    "Quote",
    "Restorable",
    "RevisedMemory",
    "Revision",
    "Rewrite",
    "Role",
    "SessionSummary",
    "SessionTitle",
    "SignBits",
    "Source",
    "SourceSpan",
    "Statement",
    "Stats",
    "StoredMemory",
    "Subcategory",
    "SubcategoryDraft",
    "SubcategoryRecord",
    "SummaryInput",
    "SummaryRecord",
    "SummarySentence",
    "Supersession",
    "TagUse",
    "Tally",
    "Termination",
    "TimedWords",
    "Topic",
    "Trace",
    "Turn",
    "TurnContext",
    "Understanding",
    "UndoResult",
    "Usage",
    "UsageKind",
    "UseCount",
    "UsedMemory",
    "UserKey",
    "UserRecord",
    "Vector",
    "WeightSnapshot",
    "Weights",
    "WeightsRecord",
    "aware",
]


def __getattr__(name: str) -> object:
    """Import the array types, and numpy with them, on first use (PEP 562)."""
    if name not in ("SignBits", "Vector"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hotmem.types import arrays

    return getattr(arrays, name)
