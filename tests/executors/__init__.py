"""Executors, each on a real engine and a real database."""
