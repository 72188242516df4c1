"""THE LOOPS: read, decide, record."""
