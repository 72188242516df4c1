"""Deterministic simulation: the whole engine, several workers, one virtual clock, and faults drawn from a seed."""
