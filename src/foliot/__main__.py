"""`python -m foliot`: the command line, by whichever Python it is asked of."""

from foliot.cli.main import main

main()
