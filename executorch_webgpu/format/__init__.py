"""From bytes to frozen dataclasses: every offset, count and index is checked here, once."""

from executorch_webgpu.format.identify import identify
from executorch_webgpu.format.program import FileInfo, ProgramFile, open_program
from executorch_webgpu.format.vulkan import read_vulkan_graph

__all__ = ["FileInfo", "ProgramFile", "identify", "open_program", "read_vulkan_graph"]
