"""What a new statement does to what is known: confirm it, end it, or stand beside it.

Relations of one value (lives in) end the old value; relations of many (likes) add to it. What was said later wins, also when
history is told out of order; nothing is deleted, so that "where did I live before?" keeps its answer.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import Final

from hotmem.text import plain
from hotmem.types import Correction, Ending, Revision, Statement, StoredMemory

MISHEARD: Final = 0.6
"""Share of letters that two names have in common, in order, from which one may be the other misheard: "Patola" and "Potola" have 0.83."""


def revise(statement: Statement, said_at: datetime, known: Sequence[StoredMemory]) -> Revision:
    """What the statement does to the memories of its subject and relation.

    Args:
        statement: The new statement.
        said_at: When it was said.
        known: Memories of the same subject, and of its relation or one it ends, latest first.
    """
    confirmed = next((memory for memory in known if memory.current and _same(statement, memory)), None)
    if confirmed:
        return Revision(confirms=confirmed.id)
    contrary = [memory for memory in known if _contrary(statement, memory)]
    later = [memory.said_at for memory in contrary if memory.said_at > said_at]
    ended = [memory for memory in contrary if memory.said_at <= said_at and (memory.valid_until is None or memory.valid_until > said_at)]
    return Revision(ends=tuple(memory.id for memory in ended), valid_until=min(later, default=None))


def amend(correction: Correction, recent: Sequence[StoredMemory]) -> tuple[StoredMemory, Statement] | None:
    """The memory that a correction is about and the statement that takes its place; None if no recent memory fits.

    Args:
        correction: What was taken back and what holds.
        recent: Current memories, latest first.
    """
    old = next((memory for memory in recent if _meant(correction, memory)), None)
    if old is None:
        return None
    wrong = correction.wrong or old.object
    return old, Statement(
        text=_exchanged(old.text, wrong, correction.right),
        subject=_exchanged(old.subject, wrong, correction.right),
        relation=old.relation,
        object=_exchanged(old.object, wrong, correction.right),
        kind=old.kind,
        category=old.category,
        importance=old.importance,
        start=correction.start,
        stop=correction.stop,
        entities=(correction.right,) if correction.right[:1].isupper() else (),
        negated=old.negated,
        changes=old.changes,
        single=old.single,
    )


def _same(statement: Statement, memory: StoredMemory) -> bool:
    return memory.relation == statement.relation and memory.negated == statement.negated and plain(memory.object) == plain(statement.object)


def _contrary(statement: Statement, memory: StoredMemory) -> bool:
    """Whether both cannot hold at once: one denies or ends the other, or a relation of one value has another."""
    if statement.ending is not None and not memory.negated and _concerned(statement.ending, memory):
        return True
    if memory.relation != statement.relation:
        return False
    if statement.negated and not memory.negated:
        return _denied(plain(statement.object), plain(memory.object))
    if memory.negated and not statement.negated:
        return plain(statement.object) == plain(memory.object)
    return statement.single and not statement.negated and not _says_more(plain(statement.object), plain(memory.object))


def _denied(value: str, held: str) -> bool:
    """Whether a denial is of what is held: of that very value, of one it only adds to, or of any ("I don't work there any more")."""
    return not value or f"{held} ".startswith(f"{value} ")


def _concerned(ending: Ending, memory: StoredMemory) -> bool:
    """Whether a memory is of what has ended, whatever its form: "smoking" ends "smokes"."""
    over = _stem(ending.thing)
    return memory.relation in ending.relations and any(_stem(word) == over for word in plain(memory.object).split())


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|es|s|e|ed)$", "", word.casefold())


def _says_more(value: str, other: str) -> bool:
    """Whether two values are one, or one only adds to the other: "Friday at nine" to "Friday"."""
    return f"{value} ".startswith(f"{other} ") or f"{other} ".startswith(f"{value} ")


def _meant(correction: Correction, memory: StoredMemory) -> bool:
    if not correction.wrong:
        fits = memory.relation == correction.relation if correction.relation else _misheard(memory.object, correction.right)
        return fits and plain(memory.object) != plain(correction.right)
    return bool(_whole(correction.wrong).search(memory.text))


def _misheard(value: str, right: str) -> bool:
    """Whether a name may be a mishearing of another."""
    return value[:1].isupper() and SequenceMatcher(None, value.casefold(), right.casefold()).ratio() >= MISHEARD


def _exchanged(text: str, wrong: str, right: str) -> str:
    return _whole(wrong).sub(lambda _: right, text)


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words.strip())}(?!\w)", re.IGNORECASE)
