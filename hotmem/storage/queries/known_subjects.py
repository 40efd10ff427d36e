"""The subjects of a user's current facts."""

import re

from hotmem.storage.database import Connection
from hotmem.text.ascii_case import ascii_lower
from hotmem.types import KnownSubjects, UserKey

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
        FROM memories m INDEXED BY memories_by_relation WHERE {condition} AND m.negated = 0"""
    in_order = "ORDER BY lower(m.subject), m.value, m.id"
    exists_sql = f"""SELECT 1 FROM memories m INDEXED BY memories_by_relation WHERE {condition}
        AND lower(m.subject) = ? LIMIT 1"""
    pairs = [
        pair
        for pair in conn.execute(SUBJECTS, {"user": user})
        if any(word.startswith(words) for word in _own_words(pair[1]))
    ]
    owned = (
        row
        for owner in owners
        for row in conn.execute(
            f"{facts_sql} AND lower(m.subject) = ? {in_order}",
            (user, POSSESSES, ascii_lower(owner)),
        )
    )
    return KnownSubjects(
        tuple(
            dict.fromkeys(
                other
                for relation, other in pairs
                if conn.execute(exists_sql, (user, relation, ascii_lower(other))).fetchone()
            )
        ),
        tuple(
            (owner, name, bool(sole))
            for owner, name, sole in conn.execute(f"{facts_sql} {in_order}", (user, NAMES))
        ),
        tuple((owner, value) for owner, value, _ in owned),
    )


def _own_words(subject: str) -> list[str]:
    """The words of a subject without those of its first owner: "son", "max" of "Ana's son Max"."""
    return re.findall(r"\w+", _OWNED.split(subject.casefold(), maxsplit=1)[-1])
