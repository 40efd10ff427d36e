"""Immutable data between the stages, one module per data path.

Turn → Understanding → SessionSummary                                       (write path)
utterance → Analysis → Query → Hit → Evidence → Item → ContextBlock         (read path)
reply → Usage → QualityRecord, Weights                                      (feedback path)

A repeated name, `X as X`, exports it (PEP 484).
"""

from typing import TYPE_CHECKING

from hotmem.types.block import ContextBlock as ContextBlock
from hotmem.types.block import Item as Item
from hotmem.types.block import ItemUse as ItemUse
from hotmem.types.block import LayerReport as LayerReport
from hotmem.types.block import Trace as Trace
from hotmem.types.block import Usage as Usage
from hotmem.types.maintenance import Act as Act
from hotmem.types.maintenance import Action as Action
from hotmem.types.maintenance import Actor as Actor
from hotmem.types.maintenance import AuditEntry as AuditEntry
from hotmem.types.maintenance import CategoryMembers as CategoryMembers
from hotmem.types.maintenance import Diagnosis as Diagnosis
from hotmem.types.maintenance import EvolutionDraft as EvolutionDraft
from hotmem.types.maintenance import EvolutionResult as EvolutionResult
from hotmem.types.maintenance import FailedJob as FailedJob
from hotmem.types.maintenance import Fault as Fault
from hotmem.types.maintenance import Finding as Finding
from hotmem.types.maintenance import ForgetResult as ForgetResult
from hotmem.types.maintenance import JobKind as JobKind
from hotmem.types.maintenance import Leftovers as Leftovers
from hotmem.types.maintenance import Overdue as Overdue
from hotmem.types.maintenance import Period as Period
from hotmem.types.maintenance import Restorable as Restorable
from hotmem.types.maintenance import Stats as Stats
from hotmem.types.maintenance import Subcategory as Subcategory
from hotmem.types.maintenance import SubcategoryState as SubcategoryState
from hotmem.types.maintenance import TagUse as TagUse
from hotmem.types.memories import Decision as Decision
from hotmem.types.memories import InsertedMemory as InsertedMemory
from hotmem.types.memories import KnownSubjects as KnownSubjects
from hotmem.types.memories import MemoryChange as MemoryChange
from hotmem.types.memories import MemoryMetadata as MemoryMetadata
from hotmem.types.memories import NewMemory as NewMemory
from hotmem.types.memories import RevisedMemory as RevisedMemory
from hotmem.types.memories import Revision as Revision
from hotmem.types.memories import StoredMemory as StoredMemory
from hotmem.types.memories import Supersession as Supersession
from hotmem.types.memories import UndoResult as UndoResult
from hotmem.types.portability import EvolutionRecord as EvolutionRecord
from hotmem.types.portability import ExportedTurn as ExportedTurn
from hotmem.types.portability import ImportRecord as ImportRecord
from hotmem.types.portability import ImportResult as ImportResult
from hotmem.types.portability import MemoryRecord as MemoryRecord
from hotmem.types.portability import SourceSpan as SourceSpan
from hotmem.types.portability import SubcategoryRecord as SubcategoryRecord
from hotmem.types.portability import SummaryRecord as SummaryRecord
from hotmem.types.portability import UserRecord as UserRecord
from hotmem.types.portability import WeightsRecord as WeightsRecord
from hotmem.types.quality import AnsweredRecall as AnsweredRecall
from hotmem.types.quality import Label as Label
from hotmem.types.quality import LabelMentions as LabelMentions
from hotmem.types.quality import Latencies as Latencies
from hotmem.types.quality import LocatedRow as LocatedRow
from hotmem.types.quality import Quality as Quality
from hotmem.types.quality import QualityRecord as QualityRecord
from hotmem.types.quality import Tally as Tally
from hotmem.types.quality import UseCount as UseCount
from hotmem.types.quality import UsedMemory as UsedMemory
from hotmem.types.recall import MAX_WEIGHT as MAX_WEIGHT
from hotmem.types.recall import MIN_WEIGHT as MIN_WEIGHT
from hotmem.types.recall import NO_OFFSET as NO_OFFSET
from hotmem.types.recall import START_WEIGHTS as START_WEIGHTS
from hotmem.types.recall import Analysis as Analysis
from hotmem.types.recall import Evidence as Evidence
from hotmem.types.recall import Hit as Hit
from hotmem.types.recall import IntentOffset as IntentOffset
from hotmem.types.recall import Interval as Interval
from hotmem.types.recall import LearningState as LearningState
from hotmem.types.recall import Profile as Profile
from hotmem.types.recall import Query as Query
from hotmem.types.recall import Quote as Quote
from hotmem.types.recall import Rewrite as Rewrite
from hotmem.types.recall import TimedWords as TimedWords
from hotmem.types.recall import Weights as Weights
from hotmem.types.recall import WeightSnapshot as WeightSnapshot
from hotmem.types.sessions import SessionSummary as SessionSummary
from hotmem.types.sessions import SessionTitle as SessionTitle
from hotmem.types.sessions import SummaryInput as SummaryInput
from hotmem.types.sessions import SummarySentence as SummarySentence
from hotmem.types.sessions import Topic as Topic
from hotmem.types.sessions import Turn as Turn
from hotmem.types.sessions import aware as aware
from hotmem.types.understanding import Correction as Correction
from hotmem.types.understanding import EventTime as EventTime
from hotmem.types.understanding import ExtractionBatch as ExtractionBatch
from hotmem.types.understanding import ExtractionCosts as ExtractionCosts
from hotmem.types.understanding import ExtractionOutcome as ExtractionOutcome
from hotmem.types.understanding import ExtractionResult as ExtractionResult
from hotmem.types.understanding import Statement as Statement
from hotmem.types.understanding import TurnContext as TurnContext
from hotmem.types.understanding import Understanding as Understanding
from hotmem.types.vocabulary import AnswerType as AnswerType
from hotmem.types.vocabulary import Category as Category
from hotmem.types.vocabulary import Complexity as Complexity
from hotmem.types.vocabulary import DecisionAction as DecisionAction
from hotmem.types.vocabulary import EvidenceKind as EvidenceKind
from hotmem.types.vocabulary import Intent as Intent
from hotmem.types.vocabulary import Kind as Kind
from hotmem.types.vocabulary import Layer as Layer
from hotmem.types.vocabulary import LayerOutcome as LayerOutcome
from hotmem.types.vocabulary import Mark as Mark
from hotmem.types.vocabulary import QueryVectors as QueryVectors
from hotmem.types.vocabulary import Role as Role
from hotmem.types.vocabulary import Source as Source
from hotmem.types.vocabulary import UsageKind as UsageKind
from hotmem.types.vocabulary import UserKey as UserKey

if TYPE_CHECKING:
    from hotmem.types.arrays import SignBits as SignBits
    from hotmem.types.arrays import Vector as Vector


def __getattr__(name: str) -> object:
    """Import the array types, and numpy with them, on first use (PEP 562)."""
    if name not in ("SignBits", "Vector"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hotmem.types import arrays

    return getattr(arrays, name)
