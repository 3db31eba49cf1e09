"""Max and average pooling in two dimensions."""
