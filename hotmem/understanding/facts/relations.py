"""The relations that rules write by: names, wishes, plans and reminders."""

from dataclasses import dataclass
from typing import Final

from hotmem.types import Category, Kind, Statement


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation and the defaults of its statements.

    Attributes:
        name: Its text between subject and object, part of the key by which statements collide.
        kind: Kind of its statements.
        category: Category of its statements.
        importance: 1 (passing) to 5 (must not be forgotten).
        single: Whether it has one value at a time, so that a new value supersedes.
        changes: Whether it changes with time.
    """

    name: str
    kind: Kind = Kind.FACT
    category: Category = Category.CONTEXTS
    importance: int = 3
    single: bool = False
    changes: bool = False

    def statement(self, subject: str, value: str, text: str, start: int, stop: int) -> Statement:
        """Build a statement of this relation.

        Args:
            subject: The person or thing it is about.
            value: The object.
            text: The full sentence.
            start: First character of its words in the turn.
            stop: One past the last character.
        """
        return Statement(
            text,
            subject,
            self.name,
            value,
            self.kind,
            self.category,
            self.importance,
            start,
            stop,
            changes=self.changes,
            single=self.single,
        )


IS_CALLED: Final = Relation("is called", importance=5, single=True)
ANY_NAME: Final = ""
"""What a new name ends, whichever the old one was: "my dog is called Max now"."""

PLANS_TO: Final = Relation(
    "plans to", kind=Kind.REMINDER, category=Category.REMINDERS, importance=3, changes=True
)
IS_REMINDED: Final = Relation(
    "wants to be reminded",
    kind=Kind.REMINDER,
    category=Category.REMINDERS,
    importance=4,
    changes=True,
)
ASKS: Final = Relation("asks", kind=Kind.RULE, category=Category.SYSTEM, importance=5)
HAS_TO: Final = Relation(
    "has to", kind=Kind.REMINDER, category=Category.REMINDERS, importance=4, changes=True
)
