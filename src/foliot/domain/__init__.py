"""The rules: values and pure functions, standard library only. No clock, no chance, no network, no database."""
