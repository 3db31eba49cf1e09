"""``devices``: the adapters that programs can run on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from executorch_webgpu.cli.output import print_json, print_table, size_text

if TYPE_CHECKING:
    from executorch_webgpu.insight.machine import DeviceInfo

_CPU: dict[str, Any] = {
    "index": None,
    "name": "cpu",
    "kind": "cpu",
    "backend": "numpy",
    "driver": "",
    "limits": {},
    "features": [],
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def devices_command(as_json: bool) -> None:
    """List the adapters that programs can run on, best first, with the limits and features that matter.

    The index or a part of the name is what --device takes; 'cpu' is always there.
    """
    from executorch_webgpu.insight.machine import list_devices

    devices = list_devices()
    if as_json:
        print_json([*map(_described, devices), _CPU])
        return
    rows = [(str(d.index), d.name, d.kind, d.backend, d.driver) for d in devices]
    print_table(("index", "name", "kind", "backend", "driver"), [*rows, ("-", "cpu", "cpu", "numpy", "")])
    for device in devices:
        limits = device.limits
        click.echo(f"\n{device.index} {device.name}")
        click.echo(
            f"  a buffer up to {size_text(limits['max-buffer-size'])}, a binding up to "
            f"{size_text(limits['max-storage-buffer-binding-size'])}, "
            f"{limits['max-storage-buffers-per-shader-stage']} storage buffers a shader"
        )
        click.echo(
            f"  {limits['max-compute-invocations-per-workgroup']} invocations and "
            f"{size_text(limits['max-compute-workgroup-storage-size'])} of memory a workgroup"
        )
        click.echo(f"  features: {' '.join(device.features) or 'none'}")


def _described(device: DeviceInfo) -> dict[str, Any]:
    names = ("index", "name", "kind", "backend", "driver", "limits")
    return {name: getattr(device, name) for name in names} | {"features": list(device.features)}
