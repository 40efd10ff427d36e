"""Parts 6, 14 and 16 of the trial: metrics, credit for what a reply used, `hotmem eval`."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from eval.trial.inputs import NOW, Outcome, conversation, load
from hotmem import Memory
from hotmem.types.vocabulary import UsageKind

WAIT_MS = 10_000
_TOO_LITTLE = re.compile(r"too (?:little|few)", re.I)
_QUESTIONS = re.compile(r"(\d+) questions? from \d+ sessions? are")


def run(*arguments: str) -> str:
    """Run a program with this Python; return all that it prints."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    return done.stdout + done.stderr


def hotmem(*arguments: str) -> str:
    """Run the `hotmem` command; return all that it prints, in one line."""
    code = "from hotmem.cli.app import main; main()"
    return " ".join(run("-c", code, *arguments).split())


def observability(file: Path, limit: int | None) -> list[Outcome]:
    """Collect metrics in a process of its own, and look at what is stored."""
    printed = run("-m", "eval.trial.metrics", str(file))
    last = printed.strip().splitlines()[-1]
    if not last.startswith("{"):
        return [Outcome("6 metrics", "all", False, last)]
    checks = json.loads(last)
    quality = hotmem("quality", "--user", "metrics", "--database", str(file))
    audit = hotmem("audit", "--user", "metrics", "--database", str(file))
    checks["hotmem quality: latency"] = (bool(re.search(r"\bms\b", quality)), quality[:300])
    checks["hotmem quality: hits by layer"] = ("facts" in quality, quality[:300])
    checks["hotmem audit: the search"] = ("search" in audit, audit[:300])
    return [
        Outcome("6 metrics", name, bool(right), str(got))
        for name, (right, got) in list(checks.items())[:limit]
    ]


async def usage(memory: Memory, limit: int | None) -> list[Outcome]:
    """Give a reply to a block, and see which of its lines get the credit."""
    outcomes = []
    for place, case in enumerate(load("usage")["cases"][:limit]):
        user = f"usage-{place}"
        ids = [(await memory.store_memory(text, user_id=user)).id for text in case["known"]]
        await memory.settle()
        block = await memory.recall(
            case["ask"], user_id=user, session_id="call", at=NOW, deadline_ms=WAIT_MS
        )
        credit = await memory.feedback(block, case["reply"])
        used = {one.item.memory_id for one in credit.uses if one.kind != UsageKind.UNUSED}
        given = {item.memory_id for item in block.items}
        wanted = {ids[number] for number in case["used"]}
        texts = [
            f"{one.item.text} ({one.kind})" for one in credit.uses if one.kind != UsageKind.UNUSED
        ]
        missing = " (not in the block)" if wanted - given else ""
        outcomes.append(
            Outcome(
                "14 credit",
                f"{case['ask']} — {case['reply']}",
                used == wanted,
                (" | ".join(texts) or "none used") + missing,
            )
        )
    return outcomes


async def record(memory: Memory, case: dict[str, Any], user: str) -> None:
    """Let a bot talk with its memory: recall, remember, feedback."""
    sessions = case["sessions"]
    for place, lines in enumerate(sessions):
        repeated = lines * (case.get("repeat", 1) if place == len(sessions) - 1 else 1)
        block = None
        for turn in conversation(user, f"call-{place}", repeated, 2 - place, "Mira"):
            if turn.role == "user":
                block = await memory.recall(
                    turn.text,
                    user_id=user,
                    session_id=turn.session_id,
                    at=turn.spoken_at,
                    deadline_ms=WAIT_MS,
                )
            elif block is not None:
                await memory.feedback(block, turn.text)
            await memory.remember(turn)
        await memory.settle()


async def recordings(memory: Memory, limit: int | None) -> None:
    """Store what part 16 evaluates."""
    for place, case in enumerate(load("evaluation")["cases"][:limit]):
        await record(memory, case, f"eval-{place}")


def evaluation(file: Path, limit: int | None) -> list[Outcome]:
    """Run `hotmem eval` on recordings that are too small to recommend anything."""
    outcomes = []
    for place, case in enumerate(load("evaluation")["cases"][:limit]):
        arguments = ("--user", f"eval-{place}", "--database", str(file))
        printed = hotmem("eval", *arguments, "--setting", "HOTMEM_VERBATIM_CONTEXT_WINDOW=1")
        recommends = "recommend" in printed.lower() and not _TOO_LITTLE.search(printed)
        outcomes.append(
            Outcome("16 eval: recommends nothing", case["name"], not recommends, printed[-400:])
        )
        counts = [int(number) for number in _QUESTIONS.findall(printed)]
        outcomes.append(
            Outcome(
                "16 eval: counts questions only",
                case["name"],
                all(number <= case["questions"] for number in counts),
                f"{counts}, at most {case['questions']}",
            )
        )
    return outcomes
