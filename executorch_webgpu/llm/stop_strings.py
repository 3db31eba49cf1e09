"""Stop strings in streamed text: a text that ends the answer can be spread over several tokens."""

from __future__ import annotations

from collections.abc import Sequence


class StopStrings:
    """Passes text through, holding back what may turn out to be the beginning of a stop string."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""

    def push(self, text: str) -> tuple[str, bool]:
        """Take more text; return what can be shown, and whether a stop string was met (what follows it is dropped)."""
        text = self._held + text
        found = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self._held = ""
            return text[: min(found)], True
        keep = self._beginning(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep], False

    def flush(self) -> str:
        """Return what is still held back: nothing more will come."""
        text, self._held = self._held, ""
        return text

    def _beginning(self, text: str) -> int:
        """Return the length of the longest end of ``text`` that begins a stop string."""
        longest = max((len(stop) for stop in self._stops), default=1) - 1
        for length in range(min(longest, len(text)), 0, -1):
            if any(stop.startswith(text[-length:]) for stop in self._stops):
                return length
        return 0
