"""Diagnoses a PostgreSQL database: server, rights, isolation, jobs and vacuum. Writes nothing."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from hotmem.core.validation import counted
from hotmem.errors import HotMemError, StoreError
from hotmem.storage import diagnosis
from hotmem.storage.diagnosis import checked
from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.connection import (
    CONNECT_S,
    OPTIONS,
    SCHEMA,
    Client,
    PostgresConnection,
    adapt,
    mapped_errors,
    parse,
)
from hotmem.storage.postgres.migrations import OLDEST_SERVER, STEPS, checked_version
from hotmem.storage.queries import job_failures, jobs
from hotmem.types import Diagnosis, Finding

if TYPE_CHECKING:
    from hotmem.storage.postgres.database import PostgresDatabase


SLOWEST_S: Final = 60
"""Seconds that a check may take."""

CLOCK_S: Final = 5.0
"""Seconds by which the clock of this machine may differ from the server's. Leases last a minute."""

LATE_S: Final = 600.0
"""Seconds that a turn may wait to be understood."""

LONG_S: Final = 300
"""Seconds after which a transaction keeps too much from being vacuumed."""

BUSY: Final = 0.8
"""Share of the server's connections that may be in use."""

DEAD_ROWS: Final = 50_000
"""Dead rows of a table that are normal between two vacuums, or else a third of its rows."""

OPEN_TABLES: Final = ("meta", "former_vectors", "tombstones")
"""Tables without rows of users."""

TIMES: Final = """
    SELECT extract(epoch FROM clock_timestamp())::FLOAT8, pg_is_in_recovery(),
        current_setting('transaction_read_only') = 'on', current_setting('server_version'),
        current_setting('server_encoding')"""

CONNECTIONS: Final = """
    SELECT count(*), count(*) FILTER (WHERE application_name = 'hotmem'
            AND datname = current_database()),
        current_setting('max_connections')::INTEGER
            - current_setting('superuser_reserved_connections')::INTEGER
    FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend'"""

LONGEST: Final = """
    SELECT pid, extract(epoch FROM clock_timestamp() - xact_start)::BIGINT
    FROM pg_catalog.pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND xact_start < clock_timestamp() - make_interval(secs => %s)
        AND backend_type = 'client backend'
    ORDER BY xact_start"""

PROTECTED: Final = """
    SELECT relname FROM pg_catalog.pg_class
    WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'p')
        AND NOT (relrowsecurity AND relforcerowsecurity) AND relname <> ALL(%s) ORDER BY relname"""

RIGHTS: Final = """
    SELECT relname FROM pg_catalog.pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
        AS needed (right_)
    WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'p')
        AND NOT has_table_privilege(oid, right_) GROUP BY relname ORDER BY relname"""

DEAD: Final = """
    SELECT relname, n_dead_tup, n_live_tup, last_autovacuum IS NULL AND last_vacuum IS NULL
    FROM pg_catalog.pg_stat_user_tables WHERE schemaname = %s ORDER BY n_dead_tup DESC"""

LEASES: Final = """
    SELECT count(*) FILTER (WHERE expires_at < %s),
        count(DISTINCT owner) FILTER (WHERE expires_at >= %s) FROM leases"""


def diagnosed(url: str, spooled: int = 0, language: str | None = None) -> Diagnosis:
    """Examines a database. Blocking.

    Args:
        url: Its URL.
        spooled: Turns that wait in the spool of this machine.
        language: The language that is set; None for any.
    """
    findings = list(diagnosis.of_spool(spooled))
    try:
        location, conninfo = parse(url)
        with mapped_errors(location), Client.connect(conninfo, **OPTIONS) as raw:
            raw.patience_s = SLOWEST_S + CONNECT_S
            adapt(raw)
            now, of_server = _server(raw)
            findings += of_server
            version = checked_version(raw, location)
            findings.append(_schema(version))
            if version < len(STEPS):
                return Diagnosis(tuple(findings), ())
            found = migrations.isolation(raw)
            findings += _roles(raw, found)
            if any(one.about == "rights" and one.fix for one in findings):
                return Diagnosis(tuple(findings), ())
            raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            raw.execute(
                """SELECT set_config('search_path', %s, true), set_config('role', %s, true),
                    set_config('hotmem.scope', 'all', true),
                    set_config('statement_timeout', %s, true)""",
                (f"{SCHEMA}, pg_catalog", found.role or "none", f"{SLOWEST_S}s"),
            )
            conn = PostgresConnection(raw)
            findings += diagnosis.of_copy(conn)
            findings += diagnosis.of_language(conn, language)
            findings += diagnosis.of_encoders(conn)
            findings += diagnosis.of_jobs(conn)
            findings += _workers(raw, now)
            failures = tuple(job_failures.latest(conn, diagnosis.FAILURES_SHOWN))
            raw.execute("ROLLBACK")
            findings += _load(raw)
            return Diagnosis(tuple(findings), failures)
    except StoreError as error:
        fact, _, fix = str(error).partition(". ")
        return Diagnosis((*findings, Finding("database", fact, fix or "See docs/deploy.md.")), ())


def _server(raw: Client) -> tuple[float, list[Finding]]:
    """The server's time in seconds since 1970, and what it is."""
    began = time.time()
    row = raw.execute(TIMES).fetchone()
    took = time.time() - began
    now, replica, read_only, version, encoding = row or (began, False, False, "", "")
    answers = f"PostgreSQL {version}, answers in {took * 1000:.1f} ms"
    too_old = raw.info.server_version < OLDEST_SERVER
    create = "Create a database with ENCODING 'UTF8'."
    writing = "the primary server"
    if read_only:
        kind = "a replica" if replica else "set to read-only"
        writing = f"it is {kind}, so nothing is remembered"
    connect = "Name the primary, or all servers with ?target_session_attrs=read-write."
    skew = began + took / 2 - now
    differs = f"{abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} the server's"
    set_clock = "Set the clock of this machine, with NTP."
    return float(now), [
        checked("server", answers, "Use PostgreSQL 15 or newer.", wrong=too_old),
        checked("encoding", encoding, create, wrong=encoding != "UTF8"),
        checked("writing", writing, connect, wrong=read_only),
        checked("clock", differs, set_clock, wrong=abs(skew) - took > CLOCK_S),
    ]


def _schema(version: int) -> Finding:
    if version == len(STEPS):
        return Finding("schema", f"{version}, today's")
    return Finding(
        "schema",
        f"{version}; {len(STEPS)} is today's" if version else "none yet",
        "Run `hotmem migrate URL` as the owner of the schema.",
    )


def _roles(raw: Client, found: migrations.Isolation) -> Iterator[Finding]:
    """Whether users are kept apart, and this role has its rights."""
    unprotected = [name for (name,) in raw.execute(PROTECTED, (SCHEMA, list(OPEN_TABLES)))]
    if not found.enforced:
        yield Finding(
            "isolation",
            "this role bypasses row level security: the server does not keep users apart",
            "Connect as a role of deploy/roles.sql, or run `hotmem migrate URL` as a superuser.",
        )
    elif unprotected:
        yield Finding(
            "isolation",
            f"row level security is off for {', '.join(unprotected)}",
            "Run as the owner: ALTER TABLE … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
        )
    else:
        by = f"; transactions run as {found.role}" if found.role else ""
        yield Finding("isolation", f"row level security keeps users apart{by}")
    lacking = ", ".join(name for (name,) in raw.execute(RIGHTS, (SCHEMA,)))
    fact = f"this role may not read and write {lacking}" if lacking else "complete"
    fix = "Run `hotmem migrate URL` as the owner, and: GRANT hotmem_app TO this role"
    yield checked("rights", fact, fix, wrong=bool(lacking))


def _workers(raw: Client, now: float) -> Iterator[Finding]:
    """Who runs jobs, and how long they wait."""
    moment = round(now * 1e6)
    expired, busy = raw.execute(LEASES, (moment, moment)).fetchone() or (0, 0)
    leases = f"; {counted(expired, 'lease')} of workers that died, for another to take over"
    yield Finding("workers", f"{busy} at work now{leases if expired else ''}")
    oldest = jobs.oldest_turn(PostgresConnection(raw))
    if oldest is not None:
        waits_s = max(0.0, now - oldest.timestamp())
        fix = "Start `hotmem worker`, or more of them."
        yield checked("oldest job", f"said {waits_s:,.0f} s ago", fix, wrong=waits_s > LATE_S)


def _load(raw: Client) -> Iterator[Finding]:
    """Connections, long transactions and dead rows."""
    used, ours, most = raw.execute(CONNECTIONS).fetchone() or (0, 0, 1)
    fact = f"{used} of {most}, {ours} of HotMem in this database"
    fix = "Put PgBouncer in front, or raise max_connections."
    yield checked("connections", fact, fix, wrong=used > BUSY * most)
    long = raw.execute(LONGEST, (LONG_S,)).fetchall()
    fact = "none is open for long"
    if long:
        fact = f"{len(long)} open for over {LONG_S} s, the longest for {long[0][1]:,} s"
    pids = ", ".join(str(pid) for pid, _ in long)
    fix = f"They keep deleted rows from being removed. End them: pg_terminate_backend of {pids}"
    yield checked("transactions", fact, fix, wrong=bool(long))
    tables = raw.execute(DEAD, (SCHEMA,)).fetchall()
    late = ", ".join(name for name, dead, live, _ in tables if dead > max(DEAD_ROWS, live / 3))
    fact = f"{sum(dead for _, dead, _, _ in tables):,} dead rows"
    fact += f", most in {late}" if late else ""
    fix = f"Run VACUUM on {late}, and lower autovacuum_vacuum_scale_factor."
    yield checked("vacuum", fact, fix, wrong=bool(late))


try:
    from opentelemetry import metrics
except ImportError:  # an extra
    metrics = None  # type: ignore[assignment]  # not installed


OLDEST_JOB_S: Final = 2.0
"""Seconds that the query of the oldest job may take."""

OBSERVED: Final[WeakSet["PostgresDatabase"]] = WeakSet()
"""The open databases, which the metrics include."""

POOL: Final = {
    "open": "pool_size",
    "available": "pool_available",
    "waiting": "requests_waiting",
}
"""States of connections, and the pool's names of their numbers."""


def _connections(_: object) -> Iterator[Any]:
    for database in list(OBSERVED):
        found = database.pool.get_stats()
        for state, name in POOL.items():
            yield metrics.Observation(found.get(name, 0), {"state": state})


def _oldest_job(_: object) -> Iterator[Any]:
    """Seconds since the oldest turn was said that waits to be understood."""
    for database in list(OBSERVED):
        with suppress(HotMemError):
            oldest = database.read_here(time.monotonic() + OLDEST_JOB_S, None, jobs.oldest_turn)
            age_s = 0.0 if oldest is None else max(0.0, time.time() - oldest.timestamp())
            yield metrics.Observation(age_s)


if metrics is not None:
    _meter = metrics.get_meter("hotmem")
    _durations = _meter.create_histogram(
        "hotmem.transaction", unit="ms", description="Duration of transactions"
    )
    _meter.create_observable_gauge(
        "hotmem.connections",
        callbacks=[_connections],
        description="Connections of the pool, and requests that wait for one",
    )
    _meter.create_observable_gauge(
        "hotmem.oldest_job",
        callbacks=[_oldest_job],
        unit="s",
        description="Age of the oldest turn that waits to be understood",
    )


@contextmanager
def timed(kind: str) -> Iterator[None]:
    """Records the duration of a transaction, "read" or "write"."""
    began = time.perf_counter()
    try:
        yield
    finally:
        if metrics is not None:
            _durations.record((time.perf_counter() - began) * 1000, {"kind": kind})
