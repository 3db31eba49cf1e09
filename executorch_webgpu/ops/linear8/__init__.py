"""8-bit linear layers, convolutions and elementwise operators."""
