"""The links of the chain, oldest first."""
