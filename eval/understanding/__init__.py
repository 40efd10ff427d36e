"""The reader, a model of what is worth remembering and what changes what: training and figures.

data ─▶ training ─▶ model ─▶ calibration ─▶ file
                             └▶ measure
"""
