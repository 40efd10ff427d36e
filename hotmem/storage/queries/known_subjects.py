"""The subjects of a user's current facts."""

import re

from hotmem.storage.database import Connection
from hotmem.types import (
    KnownSubjects,
    UserKey,
)

NAMES, POSSESSES = "is called", "has"
"""Relations that state a subject's name, and what it has."""


SUBJECTS = """
    WITH RECURSIVE relations (relation) AS (
        SELECT min(relation) FROM memories INDEXED BY memories_by_relation WHERE user_key = :user
        UNION ALL
        SELECT (SELECT min(n.relation) FROM memories n INDEXED BY memories_by_relation
                WHERE n.user_key = :user AND n.relation > r.relation)
        FROM relations r WHERE r.relation IS NOT NULL),
    pairs (relation, subject) AS (
        SELECT r.relation, (SELECT min(n.subject COLLATE NOCASE)
                            FROM memories n INDEXED BY memories_by_relation
                            WHERE n.user_key = :user AND n.relation = r.relation)
        FROM relations r WHERE r.relation IS NOT NULL
        UNION ALL
        SELECT p.relation, (SELECT n.subject FROM memories n INDEXED BY memories_by_relation
                            WHERE n.user_key = :user AND n.relation = p.relation
                                AND n.subject COLLATE NOCASE > p.subject
                            ORDER BY n.subject COLLATE NOCASE LIMIT 1)
        FROM pairs p WHERE p.subject IS NOT NULL)
    SELECT relation, subject FROM pairs WHERE subject <> ''"""
"""Pairs of relation and subject of facts, each found by one index seek, as most facts share the
speaker as their subject."""


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
    condition = (
        "m.user_key = ? AND m.relation = ? AND m.valid_until IS NULL AND m.merged_into IS NULL"
    )
    facts_sql = f"""SELECT m.subject, m.object, m.single
        FROM memories m INDEXED BY memories_by_relation WHERE {condition} AND NOT m.negated"""
    exists_sql = f"""SELECT 1 FROM memories m INDEXED BY memories_by_relation WHERE {condition}
        AND m.subject = ? COLLATE NOCASE LIMIT 1"""
    pairs = [
        pair
        for pair in conn.execute(SUBJECTS, {"user": user})
        if any(word.startswith(words) for word in _own_words(pair[1]))
    ]
    owned = (
        row
        for owner in owners
        for row in conn.execute(
            f"{facts_sql} AND m.subject = ? COLLATE NOCASE", (user, POSSESSES, owner)
        )
    )
    return KnownSubjects(
        tuple(
            dict.fromkeys(
                other
                for relation, other in pairs
                if conn.execute(exists_sql, (user, relation, other)).fetchone()
            )
        ),
        tuple(
            (owner, name, bool(sole))
            for owner, name, sole in conn.execute(facts_sql, (user, NAMES))
        ),
        tuple((owner, value) for owner, value, _ in owned),
    )


def _own_words(subject: str) -> list[str]:
    """The words of a subject without those of its first owner: "son", "max" of "Ana's son Max"."""
    return re.findall(r"\w+", _OWNED.split(subject.casefold(), maxsplit=1)[-1])
