"""THE BOOKS: what one transaction writes for a schedule. The engine and the verbs both keep them, in one way."""
