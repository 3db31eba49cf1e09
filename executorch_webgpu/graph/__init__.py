"""One delegate on a GPU: lower, compile for a shape, execute. Joins ops (what) and gpu (how)."""
