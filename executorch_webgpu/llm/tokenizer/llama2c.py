"""llama2.c's tokenizer.bin and ExecuTorch's variant of it, with the byte-pair encoding they need.

Layout, little-endian: llama2.c has ``max_token_length`` (u32); ExecuTorch has ``vocab_size, bos_id, eos_id,
max_token_length`` (4 u32; source: ``pytorch_tokenizers/llama2c.py``). Then for each token ``score`` (f32), ``length``
(u32) and its bytes, to the end of the file.
"""

from __future__ import annotations

import heapq
import re
import struct

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm.tokenizer.base import ByteTokenizer, Tokenizer, split_special

_BYTE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


def _entries(data: bytes, at: int, longest: int) -> list[tuple[bytes, float]]:
    entries: list[tuple[bytes, float]] = []
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError(f"it ends inside the head of token {len(entries)}")
        score, length = struct.unpack_from("<fI", data, at)
        at += 8
        if length > longest:
            raise ValueError(f"token {len(entries)} is longer ({length}) than the stated maximum ({longest})")
        if at + length > len(data):
            raise ValueError(f"it ends inside token {len(entries)}")
        if score != score:
            raise ValueError(f"the score of token {len(entries)} is not a number")
        entries.append((data[at : at + length], score))
        at += length
    return entries


def _read(data: bytes) -> tuple[list[tuple[bytes, float]], int, int]:
    """Return (tokens with scores, bos id, eos id); ValueError says why the bytes are neither layout."""
    reasons = []
    if len(data) >= 16:
        count, begin, end, longest = struct.unpack_from("<4I", data)
        try:
            entries = _entries(data, 16, longest)
            # The exporter's padding token, if asked for, is not counted in the header.
            if count == 0 or len(entries) not in (count, count + 1):
                raise ValueError(f"the header says {count} tokens, {len(entries)} follow")
            return entries, begin, end
        except ValueError as error:
            reasons.append(f"with ExecuTorch's header: {error}")
    if len(data) >= 4:
        try:
            entries = _entries(data, 4, struct.unpack_from("<I", data)[0])
            if len(entries) < 3:
                raise ValueError(f"only {len(entries)} tokens")
            return entries, 1, 2
        except ValueError as error:
            reasons.append(f"with llama2.c's header: {error}")
    raise ValueError("; ".join(reasons) or "it is shorter than a header")


def why_not(data: bytes) -> str | None:
    """Return why ``data`` is no llama2.c tokenizer, None if it is one."""
    try:
        _read(data)
    except ValueError as error:
        return str(error)
    return None


def load(data: bytes) -> Tokenizer:
    """Make a tokenizer of the bytes of a .bin file."""
    try:
        entries, begin, end = _read(data)
    except ValueError as error:
        raise InvalidArgument(f"damaged llama2.c tokenizer: {error}") from None
    return _Llama2cTokenizer(entries, begin, end)


class _Llama2cTokenizer(ByteTokenizer):
    kind = "llama2c"
    leads_with_space = True

    def __init__(self, entries: list[tuple[bytes, float]], begin: int, end: int) -> None:
        self.vocab_size = len(entries)
        self.bos_id = begin if begin < len(entries) else None
        self.eos_ids = frozenset({end} if end < len(entries) else ())
        named = {begin: "<s>", end: "</s>"}
        self.special = {
            token: named.get(token, text.decode("utf-8", "replace").strip())
            for token, (text, _) in enumerate(entries)
            if token in named or text.strip() in (b"<unk>", b"<pad>")
        }
        self._spelled = {self.special[token]: token for token in named if token in self.special}
        self._bytes: list[bytes] = []
        self._byte_ids: dict[int, int] = {}
        self._ids: dict[bytes, int] = {}
        self._scores = [score for _, score in entries]
        for token, (text, _) in enumerate(entries):
            match = _BYTE.fullmatch(text)
            if match:
                self._byte_ids[int(match[1], 16)] = token
            elif token not in self.special:
                self._ids.setdefault(text, token)
            self._bytes.append(bytes([int(match[1], 16)]) if match else text)
        self._byte_tokens = frozenset(self._byte_ids.values())

    def token_bytes(self, token: int) -> bytes:
        return self._bytes[token] if 0 <= token < len(self._bytes) else b""

    def token_id(self, text: str) -> int | None:
        return self._spelled.get(text, self._ids.get(text.encode()))

    def encode_plain(self, text: str) -> list[int]:
        ids: list[int] = []
        for part, special in split_special(text, self._spelled):
            ids += [self._spelled[part]] if special else self._merge(self._characters(" " + part))
        return ids

    def _characters(self, text: str) -> list[int]:
        ids: list[int] = []
        for char in text:
            data = char.encode()
            known = self._ids.get(data)
            if known is not None:
                ids.append(known)
                continue
            for byte in data:
                if byte not in self._byte_ids:
                    raise InvalidArgument(f"the tokenizer has no token for {char!r} and none for the byte {byte:#04x}")
                ids.append(self._byte_ids[byte])
        return ids

    def _merge(self, ids: list[int]) -> list[int]:
        """Join the adjacent pair with the best score, the leftmost of equals, until none joins."""
        pieces: list[int | None] = list(ids)
        left = list(range(-1, len(ids) - 1))
        right = list(range(1, len(ids) + 1))
        queue: list[tuple[float, int, int, int, int]] = []

        def offer(first: int, second: int) -> None:
            if first < 0 or second >= len(pieces):
                return
            one, two = pieces[first], pieces[second]
            if one is None or two is None:
                return
            joined = self._ids.get(self._piece(one) + self._piece(two))
            if joined is not None:
                heapq.heappush(queue, (-self._scores[joined], first, one, two, joined))

        for index in range(len(ids) - 1):
            offer(index, index + 1)
        while queue:
            _, first, one, two, joined = heapq.heappop(queue)
            second = right[first]
            # An entry is stale once either side has been joined to something else.
            if second >= len(pieces) or pieces[first] != one or pieces[second] != two:
                continue
            pieces[first], pieces[second] = joined, None
            right[first] = right[second]
            if right[first] < len(pieces):
                left[right[first]] = first
            offer(left[first], first)
            offer(first, right[first])
        return [piece for piece in pieces if piece is not None]

    def _piece(self, token: int) -> bytes:
        """Return the text by which pairs are looked up: byte tokens join nothing."""
        return b"\xff\xff" if token in self._byte_tokens else self._bytes[token]
