"""The verbs: what people and programs may ask for."""
