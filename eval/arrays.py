"""Files of trained arrays (.npz)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def load_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Read arrays by their names.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is damaged.
    """
    with np.load(file) as arrays:
        return dict(arrays)


def save_arrays(file: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays under their names; the same ones give the same bytes.

    Raises:
        OSError: If the file cannot be written.
    """
    named: Mapping[str, Any] = arrays
    with file.open("wb") as out:
        np.savez(out, **named)
