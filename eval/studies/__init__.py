"""Studies beside `python -m eval run`.

What each part brings, whether it holds elsewhere, and how true its probabilities are.

    retrieval ─▶ ablation, transfer             models fitted anew on what was retrieved
              ─▶ calibration, abstention        the model that ships
    policy                                      recalls, timed

One module a study, each with `measure`, `show` and `figures`; `command` puts them on the command
line.
"""
