"""Rewritten utterances, with a mapping of offsets back to the original words."""

from dataclasses import dataclass, replace

from hotmem.types import Understanding


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a rewritten utterance.

    Attributes:
        text: Its text.
        start: First character of the original span.
        stop: One past the last.
    """

    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class RewrittenText:
    """A rewritten utterance.

    Attributes:
        segments: Its segments, in order.
    """

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The text of all segments."""
        return "".join(segment.text for segment in self.segments)

    def restore_offsets(self, understanding: Understanding) -> Understanding:
        """Map the offsets of an understanding of `text` to the original utterance."""
        return replace(
            understanding,
            statements=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.statements
            ),
            corrections=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.corrections
            ),
            event_times=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.event_times
            ),
        )

    def _start(self, place: int) -> int:
        for segment in self.segments:
            if place < len(segment.text):
                return min(segment.start + place, max(segment.start, segment.stop - 1))
            place -= len(segment.text)
        return self.segments[-1].stop

    def _stop(self, place: int) -> int:
        return self._start(place - 1) + 1
