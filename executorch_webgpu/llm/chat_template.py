"""Chat templates: Jinja in a sandbox, with the names that Hugging Face's templates expect."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from executorch_webgpu.errors import InvalidArgument, NotFound
from executorch_webgpu.llm.extras import require
from executorch_webgpu.llm.tokenizer import Tokenizer
from executorch_webgpu.llm.tokenizer.huggingface import read_config, token_name

Message = Mapping[str, str]

_LLAMA3 = (
    "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
    "{{ message['content'] | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)


class ChatTemplate:
    """Writes a conversation as the one string that the model was trained on.

    ``origin`` says where the template came from. Rendering raises InvalidArgument where the template refuses.
    """

    def __init__(self, source: str, origin: str, variables: Mapping[str, str] | None = None) -> None:
        sandbox = require("jinja2.sandbox", "chat templates")
        self.origin = origin
        self.variables = dict(variables or {})
        environment = sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = _strftime_now
        try:
            self._template = environment.from_string(source)
        except Exception as error:  # a template can fail in any way that Jinja knows
            raise InvalidArgument(f"{origin}: not a Jinja template: {error}") from error

    def render(self, messages: Sequence[Message], *, add_generation_prompt: bool = True) -> str:
        """Return the text of ``messages`` (dicts with ``role`` and ``content``)."""
        try:
            text: str = self._template.render(
                messages=[dict(message) for message in messages],
                add_generation_prompt=add_generation_prompt,
                **self.variables,
            )
        except _RefusedError as error:
            raise InvalidArgument(f"{self.origin}: the chat template refuses: {error}") from error
        except Exception as error:  # a template can fail in any way that Jinja knows
            raise InvalidArgument(f"{self.origin}: the chat template fails: {error}") from error
        return text


class _RefusedError(Exception):
    """What ``raise_exception`` in a template raises."""


def _refuse(message: str) -> None:
    raise _RefusedError(message)


def _to_json(value: Any, indent: int | None = None) -> str:
    # Jinja's own filter escapes for HTML, which the models have not seen.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now().strftime(pattern)


def load_chat_template(
    tokenizer: Tokenizer, tokenizer_path: Path | None, template_path: Path | None = None
) -> ChatTemplate:
    """Return the template in ``template_path``, else the one beside the tokenizer.

    Beside means ``chat_template.jinja``, ``NAME.chat_template.jinja`` where the tokenizer is ``NAME.tokenizer.json``,
    or the entry ``chat_template`` of ``tokenizer_config.json``. A tiktoken file of Llama 3 has that model's layout
    built in.

    Raises:
        NotFound: There is no template; the message says where it was looked for.
        InvalidArgument: The file is no template.
    """
    variables = _variables(tokenizer, tokenizer_path)
    if template_path is not None:
        text = _read(template_path)
        if template_path.suffix == ".json":
            named = _from_config(json_object(text, template_path))
            if named is None:
                raise NotFound(f"{template_path}: no chat_template in it")
            text = named
        return ChatTemplate(text, str(template_path), variables)
    looked: list[str] = []
    if tokenizer_path is not None:
        folder = tokenizer_path if tokenizer_path.is_dir() else tokenizer_path.parent
        names = ["chat_template.jinja"]
        if tokenizer_path.name.endswith(".tokenizer.json"):
            names.insert(0, tokenizer_path.name.removesuffix("tokenizer.json") + "chat_template.jinja")
        for name in names:
            looked.append(name)
            if (folder / name).is_file():
                return ChatTemplate(_read(folder / name), str(folder / name), variables)
        looked.append("tokenizer_config.json")
        named = _from_config(read_config(folder))
        if named is not None:
            return ChatTemplate(named, str(folder / "tokenizer_config.json"), variables)
    if tokenizer.kind == "tiktoken" and tokenizer.token_id("<|start_header_id|>") is not None:
        return ChatTemplate(_LLAMA3, "Llama 3's layout (assumed for its tiktoken file)", variables)
    where = f" (looked for {', '.join(looked)} beside the tokenizer)" if looked else ""
    raise NotFound(f"no chat template{where}; give one with --chat-template FILE")


def json_object(text: str, path: Path) -> Mapping[str, Any]:
    """Parse ``text`` of the file ``path`` as a JSON object."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidArgument(f"{path} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidArgument(f"{path} holds no JSON object")
    return value


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise NotFound(f"{path}: cannot read the chat template: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{path}: the chat template is not UTF-8 text") from error


def _from_config(config: Mapping[str, Any]) -> str | None:
    template = config.get("chat_template")
    if isinstance(template, list):
        # Several named templates: "default" is the one for plain conversation.
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("default", next(iter(named.values()), None))
    return template if isinstance(template, str) else None


def _variables(tokenizer: Tokenizer, tokenizer_path: Path | None) -> dict[str, str]:
    folder = None if tokenizer_path is None else tokenizer_path if tokenizer_path.is_dir() else tokenizer_path.parent
    config = read_config(folder)
    keys = ("bos_token", "eos_token", "unk_token", "pad_token")
    variables = {key: name for key in keys if (name := token_name(config.get(key)))}
    if tokenizer.bos_id is not None:
        variables.setdefault("bos_token", tokenizer.token_text(tokenizer.bos_id))
    if tokenizer.eos_ids:
        variables.setdefault("eos_token", tokenizer.token_text(min(tokenizer.eos_ids)))
    return variables
