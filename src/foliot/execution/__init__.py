"""THE GATE: what stands between a leased run and the code of its target."""
