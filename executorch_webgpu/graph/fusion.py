"""Rewrites the node list before lowering: operators that belong together become one node.

A fused node keeps its members: memory is planned for all of them, and each shape may still choose to run them apart.
"""

from __future__ import annotations

from executorch_webgpu.format.vulkan_graph import VulkanGraph
from executorch_webgpu.graph.nodes import Node


def fuse(graph: VulkanGraph, nodes: list[Node]) -> list[Node]:
    """Return the node list with fused nodes in place of their members."""
    return nodes
