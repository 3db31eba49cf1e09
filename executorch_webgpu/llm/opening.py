"""Finds the methods of a program that make up the language model and opens a decoder for them."""

from __future__ import annotations

from executorch_webgpu.errors import InvalidArgument, NotFound, NotSupported
from executorch_webgpu.llm.calls import Caller
from executorch_webgpu.llm.decoder import Decoder
from executorch_webgpu.llm.host_decoder import Callers, HostDecoder
from executorch_webgpu.llm.metadata import DEFAULT_CONTEXT, METADATA_METHODS, ModelMetadata
from executorch_webgpu.llm.protocols import ProgramLike
from executorch_webgpu.llm.run_ahead import RunAheadDecoder, open_linked_run

PREFILL, DECODE = "prefill", "decode"


def open_decoder(program: ProgramLike, metadata: ModelMetadata, method: str | None = None) -> Decoder:
    """Return a decoder for the language model in ``program``: ``find_callers``, then ``decoder_of``."""
    return decoder_of(find_callers(program, metadata, method), metadata)


def decoder_of(callers: Callers, metadata: ModelMetadata) -> Decoder:
    """Open the device and return the fastest decoder for these methods."""
    for caller in (callers.prefill, callers.decode):
        caller.method.prepare()
    length = context_length(callers, metadata)
    linked = open_linked_run(callers.decode)
    if linked is not None:
        return RunAheadDecoder(callers, length, metadata.vocab_size, linked)
    return HostDecoder(callers, length, metadata.vocab_size)


def find_callers(program: ProgramLike, metadata: ModelMetadata, method: str | None = None) -> Callers:
    """Return the methods that take prompts and single tokens, without opening a device.

    ``method`` names the only method where it is not ``forward``.

    Raises:
        NotFound: There is no such method, or none that can be guessed.
        NotSupported: The methods are called in no known way.
    """
    names = set(program.method_names)
    if method is None and "forward" not in names and {PREFILL, DECODE} <= names:
        prefill = Caller(PREFILL, program.load_method(PREFILL))
        decode = Caller(DECODE, program.load_method(DECODE))
        both = _joined(prefill, decode)
    else:
        name = method or _only_method(names)
        if name not in names:
            raise NotFound(f"the program has no method {name!r}; it has {', '.join(sorted(names))}")
        caller = Caller(name, program.load_method(name))
        both = (caller, caller)
    signature = both[0].signature
    if metadata.use_kv_cache and not signature.has_cache:
        raise NotSupported(
            f"the program says that it keeps a KV cache, but method {both[0].name} takes no position for it"
        )
    chunk = min(signature.longest, metadata.max_seq_len or signature.longest)
    if chunk < signature.shortest:
        raise InvalidArgument(
            f"at most {chunk} tokens a call are allowed, but method {both[0].name} takes {signature.shortest} or more"
        )
    return Callers(*both, chunk)


def context_length(callers: Callers, metadata: ModelMetadata) -> int:
    """Return the most tokens a text can have: as stated, else what ExecuTorch's runner assumes, within the bound."""
    signature = callers.prefill.signature
    stated = metadata.max_context_len or metadata.max_seq_len
    if not signature.has_cache:
        return min(stated or signature.longest, signature.longest)
    return stated or max(DEFAULT_CONTEXT, signature.longest)


def _only_method(names: set[str]) -> str:
    if "forward" in names:
        return "forward"
    candidates = sorted(names - METADATA_METHODS)
    if len(candidates) != 1:
        raise NotFound(f"which method is the language model? The program has {', '.join(candidates) or 'none'}")
    return candidates[0]


def _joined(prefill: Caller, decode: Caller) -> tuple[Caller, Caller]:
    """Return who takes prompts and who takes single tokens.

    Both are used where they share their caches. Caches inside a delegate belong to one method: then one that can do
    both does everything.
    """
    if not (prefill.method.has_delegate_state or decode.method.has_delegate_state):
        return prefill, decode
    for caller in (prefill, decode):
        if caller.signature.has_cache and caller.signature.shortest == 1:
            return caller, caller
    raise NotSupported(
        f"methods {prefill.name} and {decode.name} each keep a cache of their own inside a delegate, and neither can "
        "take prompts and single tokens alike: export them with a shared cache or as one method"
    )
