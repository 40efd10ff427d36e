"""Studies of parts and calibration, in addition to `python -m eval run`.

retrieval ─▶ ablation                       models fitted on the candidates
          ─▶ calibration, updates           the shipped model

One module per study, each with `measure`, `show` and `figures`; `command` adds them to the command
line.
"""
