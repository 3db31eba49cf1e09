"""Stop strings that come in pieces."""

from __future__ import annotations

import pytest

from executorch_webgpu.llm.stop_strings import StopStrings


def feed(stops: list[str], pieces: list[str]) -> tuple[str, bool]:
    matcher = StopStrings(stops)
    shown = ""
    for piece in pieces:
        text, met = matcher.push(piece)
        shown += text
        if met:
            return shown, True
    return shown + matcher.flush(), False


@pytest.mark.parametrize("text", ["abcEND more", "abcEN more", "EEND", "END", "xEENENDy", "", "EN"])
def test_pieces_do_not_matter(text: str) -> None:
    at = text.find("END")
    expected = (text, False) if at < 0 else (text[:at], True)
    assert feed(["END"], [text]) == expected
    assert feed(["END"], list(text)) == expected
    assert feed(["END"], [text[:3], text[3:]]) == expected


def test_the_first_of_several_counts() -> None:
    assert feed(["yes", "no"], ["I say no", " and yes"]) == ("I say ", True)
    assert feed(["\n\n", "User:"], ["Hello\n", "\nUser:"]) == ("Hello", True)


def test_text_is_held_back_only_while_it_may_be_a_stop() -> None:
    matcher = StopStrings(["END"])
    assert matcher.push("abE") == ("ab", False)
    assert matcher.push("x") == ("Ex", False)
    assert StopStrings([]).push("abc") == ("abc", False)
