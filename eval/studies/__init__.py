"""Studies of parts, transfer and calibration, in addition to `python -m eval run`.

retrieval ─▶ ablation, transfer             models fitted on the candidates
          ─▶ calibration, abstention        the shipped model

One module per study, each with `measure`, `show` and `figures`; `command` adds them to the command
line.
"""
