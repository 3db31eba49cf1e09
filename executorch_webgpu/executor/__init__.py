"""The execution plan: values, instructions, control flow, delegate calls, CPU kernels."""
