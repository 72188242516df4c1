"""The rules: frozen values and pure functions, standard library only. No clock, no randomness, no network, no database."""
