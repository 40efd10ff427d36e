"""A pool of processes that is none: other processes would load all models again."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from multiprocessing.context import BaseContext
from typing import Self

import pytest

MODULES = ("answers.run", "bench.scale", "run")
"""Modules of `eval` that distribute work over processes."""


class InlinePool:
    """Runs tasks in this process; like those of a pool, they and their results are pickled."""

    def __init__(self, jobs: int, mp_context: BaseContext) -> None:
        assert jobs == 1 and mp_context.get_start_method() == "spawn"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, work: Callable[..., object], *given: object) -> Future[object]:
        """Return the result, which is there already."""
        found: Future[object] = Future()
        work, given = pickle.loads(pickle.dumps((work, given)))
        found.set_result(pickle.loads(pickle.dumps(work(*given))))
        return found

    def shutdown(self, *, wait: bool, cancel_futures: bool) -> None:
        """Nothing is running."""

    def map(self, work: Callable[..., object], tasks: Iterable[object]) -> Iterator[object]:
        """Yield results in order."""
        return (self.submit(work, task).result() for task in tasks)


def install(patch: pytest.MonkeyPatch) -> None:
    """Replace the pools of the evaluation."""
    for module in MODULES:
        patch.setattr(f"eval.{module}.ProcessPoolExecutor", InlinePool)
