"""The benchmark of a change of encoder, on a small store."""

from pathlib import Path

from rich.console import Console

from eval.bench import reembed


async def test_a_small_store_changes_its_encoder_without_a_failed_recall(tmp_path: Path) -> None:
    change = await reembed.measure(200, tmp_path, Console(quiet=True))
    assert change.recalls and change.after
    assert (change.failed, change.different, change.missing) == (0, 0, 0)
    assert change.compared >= 200
    reembed.show(change, Console(quiet=True))
