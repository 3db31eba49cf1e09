"""How to run what is described: the only package that imports wgpu."""
