"""Databases of released schemas, with runs in flight, that every later schema is reached from."""
