"""The executors: one for each provider of targets."""
