"""Gates elsewhere."""
