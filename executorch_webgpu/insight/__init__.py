"""What the package can tell about files, machines, operators and speed."""
