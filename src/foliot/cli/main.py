"""`foliot`: the command line. A refusal goes to standard error with the exit code of its kind."""

import argparse
import os
import sys

from foliot.cli import preview, work
from foliot.domain.errors import Conflict, Denied, Invalid, NotFound, Refusal, Unavailable

_EXIT_CODES = {Invalid: 2, NotFound: 3, Conflict: 4, Unavailable: 5, Denied: 6}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="foliot", description="Durable scheduling: when does a spec fire, and run a program's schedules"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    preview.add_command(commands)
    work.add_commands(commands)
    arguments = parser.parse_args()
    try:
        print(arguments.run(arguments), flush=True)
    except Refusal as refusal:
        print(f"foliot: {refusal}", file=sys.stderr)
        sys.exit(next(code for kind, code in _EXIT_CODES.items() if isinstance(refusal, kind)))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader, `head` perhaps, has seen enough. Nothing more is to be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"foliot: cannot write the answer: {error.strerror}", file=sys.stderr)
        os._exit(1)  # A plain exit would try to write it once more, and fail with a traceback.
