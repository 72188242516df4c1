"""Why a figure is not reached, and what would reach it: by the figure's name, or by database and name."""

REASONS: dict[str, str] = {}
