"""Evaluation: quality and speed of HotMem, measured through its public API, beside baselines.

Start with `python -m eval --help`. Results are in RESULTS.md.
"""

import hotmem  # noqa: F401 - before pipecat imports ONNX Runtime: disables its telemetry
