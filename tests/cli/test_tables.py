"""The commands ops, devices and doctor."""

from __future__ import annotations

import json

import pytest

from executorch_webgpu.cli import output
from executorch_webgpu.gpu.adapters import DeviceInfo
from executorch_webgpu.insight import machine
from executorch_webgpu.insight.machine import Fact, advice
from executorch_webgpu.ops.registry import ALL, lowerings, references


def test_ops_lists_what_the_registry_has(command):
    rows = json.loads(command("ops", "--json").out)
    by_kind = {kind: {row["name"] for row in rows if row["kind"] == kind} for kind in ("delegate", "cpu", "refused")}
    assert set(lowerings()) <= by_kind["delegate"]
    assert {"et_vk.prepack.default", "sym_size.int", "add", "floordiv"} <= by_kind["delegate"]
    assert by_kind["cpu"] == {name for name in references() if "::" in name}
    assert not by_kind["refused"] & set(lowerings())
    assert all(row["dtypes"] and set(row["dtypes"]) <= {*ALL, "any"} for row in rows if row["kind"] != "refused")


def test_ops_in_text_with_a_filter(command):
    done = command("ops", "linear_q4gsw", "--kind", "delegate")
    assert done.status == 0
    header, *rows = done.out.splitlines()
    assert header.split() == ["operator", "kind", "family", "dtypes"]
    assert any(row.startswith("et_vk.linear_q4gsw.default ") for row in rows)
    assert all("linear_q4gsw" in row and " delegate " in row for row in rows)
    assert done.err.splitlines()[-1] == f"{len(rows)} operators"
    every = command("ops")
    refused = sum(" refused" in row for row in every.out.splitlines())
    assert refused and every.err.splitlines()[-1].endswith(f" operators, {refused} refused names")


def test_devices(command):
    told = json.loads(command("devices", "--json").out)
    assert told[-1]["name"] == "cpu"
    for index, device in enumerate(told[:-1]):
        assert device["index"] == index and device["kind"] in ("discrete", "integrated", "software", "unknown")
        assert device["limits"]["max-storage-buffer-binding-size"] >= 128 << 20
    text = command("devices").out
    assert all(device["name"] in text for device in told)


def test_doctor(command):
    told = json.loads(command("doctor", "--json").out)
    names = {fact["name"] for fact in told["facts"]}
    assert {"Python", "wgpu", "extra llm", "extra image"} <= names
    text = command("doctor")
    assert text.status == 0 and text.err == "" and "software:" in text.out


def pretend(monkeypatch, *devices):
    monkeypatch.setattr(machine, "list_devices", lambda: list(devices))
    monkeypatch.setattr(machine, "find_adapter", lambda spec: (devices[0], None) if devices else None)


def device(kind, features=("shader-f16", "subgroup", "timestamp-query")):
    return DeviceInfo(0, "Card", kind, "Vulkan", "1.0", {"max-buffer-size": 1}, features, True)


def test_doctor_on_a_machine_without_adapters(monkeypatch):
    pretend(monkeypatch)
    found = machine.facts()
    assert next(fact for fact in found if fact.name == "adapters").state == "bad"
    for system, word in (("Linux", "mesa-vulkan-drivers"), ("Windows", "DirectX 12"), ("Darwin", "Metal"), ("", "cpu")):
        assert any(word in line for line in advice(found, system))


def test_doctor_names_the_fallbacks(monkeypatch):
    pretend(monkeypatch, device("discrete", ()))
    absent = {fact.name: fact.value for fact in machine.facts() if fact.topic == "features"}
    assert set(absent) == set(machine.FALLBACKS)
    assert all(text.startswith("absent: ") for text in absent.values())
    monkeypatch.setenv("EXECUTORCH_WEBGPU_FEATURES", "none")
    pretend(monkeypatch, device("discrete"))
    off = [fact for fact in machine.facts() if fact.topic == "features"]
    assert all(fact.value.startswith("switched off") for fact in off)
    assert any(fact.name == "EXECUTORCH_WEBGPU_FEATURES" for fact in machine.facts())


def test_advice_is_for_machines_that_need_it(monkeypatch):
    pretend(monkeypatch, device("discrete"))
    found = [fact for fact in machine.facts() if fact.topic != "driver"]
    assert advice(found, "Linux") == []
    pretend(monkeypatch, device("software"))
    assert "slowly" in advice([fact for fact in machine.facts() if fact.topic != "driver"], "Linux")[0]
    locked = Fact("driver", "render nodes", "no access to /dev/dri/renderD128", "bad")
    assert advice([*found, locked], "Linux") == [locked.value]


def test_a_table_aligns_numbers(capsys):
    output.print_table(("name", "n"), [("a", 5), ("bb", 10)])
    assert capsys.readouterr().out == "name   n\na      5\nbb    10\n"


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 30, "3 GiB")])
def test_sizes(size, text):
    assert output.size_text(size) == text


@pytest.mark.parametrize(("seconds", "text"), [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.56e-5, "45.6 us")])
def test_times(seconds, text):
    assert output.time_text(seconds) == text
