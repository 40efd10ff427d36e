"""Evaluation: conversations are ingested through HotMem's public API, questions asked, and the evidence in the blocks counted.

    dataset ──▶ Conversation ──▶ HotMem and references ──▶ block ──▶ evidence ──▶ Row ──▶ report

`python -m eval --help` lists the commands. Data are never part of this repository; every command
takes their path.
"""

import hotmem  # noqa: F401 - before pipecat imports ONNX Runtime: disables its telemetry
