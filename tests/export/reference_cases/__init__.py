"""Tables of calls of single operators, one module a family."""
