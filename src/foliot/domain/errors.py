"""What a caller is told when it must change something before asking again."""


class Invalid(ValueError):
    """The request is wrong. The message names the thing, the rule and the remedy."""
