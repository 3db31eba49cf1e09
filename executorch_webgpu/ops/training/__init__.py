"""Training on the device: loss, optimizer step, weight gradients, requantization."""
