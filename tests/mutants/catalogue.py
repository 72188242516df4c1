"""All mutants."""

from tests.mutants.asked_for import ASKED_FOR
from tests.mutants.further import FURTHER

MUTANTS = (*ASKED_FOR, *FURTHER)
