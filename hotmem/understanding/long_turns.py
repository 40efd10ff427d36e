"""Turns that are longer than what the reader reads at once."""

from dataclasses import replace

from hotmem.models.reader import Reader, TurnReading
from hotmem.text.passages import split_passages


def read_long(reader: Reader, before: str, text: str) -> TurnReading:
    """Read a turn of any length, one passage after the other."""
    readings = [
        (start, reader.read("" if start else before, text[start:stop]))
        for start, stop in split_passages(text)
    ]
    return TurnReading(
        max((reading.kept for _, reading in readings), default=0.0),
        tuple(
            replace(part, start=start + part.start, stop=start + part.stop)
            for start, reading in readings
            for part in reading.parts
        ),
    )
