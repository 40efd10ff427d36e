"""The subjects of a user's current facts."""

import re
from typing import Final

from hotmem.storage.database import Connection
from hotmem.text.ascii_case import ascii_lower
from hotmem.types import KnownSubjects, UserKey

NAMES, POSSESSES = "is called", "has"
"""Relations that state a subject's name, and what it has."""


CURRENT: Final = "m.user_key = :user AND m.valid_until IS NULL AND m.merged_into IS NULL"

SUBJECTS: Final = f"""
    WITH RECURSIVE relations (relation) AS (
        SELECT min(relation) FROM memories INDEXED BY memories_by_relation WHERE user_key = :user
        UNION ALL
        SELECT (SELECT min(n.relation) FROM memories n INDEXED BY memories_by_relation
                WHERE n.user_key = :user AND n.relation > r.relation)
        FROM relations r WHERE r.relation IS NOT NULL),
    pairs (relation, subject) AS (
        SELECT r.relation, (SELECT n.subject FROM memories n INDEXED BY memories_by_relation
                            WHERE n.user_key = :user AND n.relation = r.relation
                            ORDER BY lower(n.subject), n.value, n.id LIMIT 1)
        FROM relations r WHERE r.relation IS NOT NULL
        UNION ALL
        SELECT p.relation, (SELECT n.subject FROM memories n INDEXED BY memories_by_relation
                            WHERE n.user_key = :user AND n.relation = p.relation
                                AND lower(n.subject) > lower(p.subject)
                            ORDER BY lower(n.subject), n.value, n.id LIMIT 1)
        FROM pairs p WHERE p.subject IS NOT NULL)
    SELECT p.subject FROM pairs p WHERE p.subject <> '' AND EXISTS (
        SELECT 1 FROM memories m INDEXED BY memories_by_relation
        WHERE {CURRENT} AND m.relation = p.relation AND lower(m.subject) = lower(p.subject))
    ORDER BY p.relation, lower(p.subject)"""
"""The subjects of a relation's current facts. Each pair of relation and subject is found by one
index seek, as most facts share the speaker as their subject."""

FACTS: Final = f"""
    SELECT m.subject, m.object, m.single FROM memories m INDEXED BY memories_by_relation
    WHERE {CURRENT} AND m.relation = :relation AND m.negated = 0"""

IN_ORDER: Final = "ORDER BY lower(m.subject), m.value, m.id"


STEM_LETTERS = 3
"""Letters that a word and its plural share at least."""


_OWNED = re.compile(r"['’]s? ")
"""Separator between an owner and what is owned: "Ana's dog", "Ana's parents' house"."""


def known_subjects(conn: Connection, user: UserKey, subject: str) -> KnownSubjects:
    """Subjects of the user's current facts that share a word with a subject.

    The number of index seeks grows with the number of subjects, not of facts.
    """
    words = tuple(word[: max(STEM_LETTERS, len(word) - 1)] for word in _own_words(subject))
    owners = [subject[: mark.start()] for mark in _OWNED.finditer(subject)]
    similar = [
        other
        for (other,) in conn.execute(SUBJECTS, {"user": user})
        if any(word.startswith(words) for word in _own_words(other))
    ]
    owned = (
        row
        for owner in owners
        for row in conn.execute(
            f"{FACTS} AND lower(m.subject) = :owner {IN_ORDER}",
            {"user": user, "relation": POSSESSES, "owner": ascii_lower(owner)},
        )
    )
    names = conn.execute(f"{FACTS} {IN_ORDER}", {"user": user, "relation": NAMES})
    return KnownSubjects(
        tuple(dict.fromkeys(similar)),
        tuple((owner, name, bool(sole)) for owner, name, sole in names),
        tuple((owner, value) for owner, value, _ in owned),
    )


def _own_words(subject: str) -> list[str]:
    """The words of a subject without those of its first owner: "son", "max" of "Ana's son Max"."""
    return re.findall(r"\w+", _OWNED.split(subject.casefold(), maxsplit=1)[-1])
