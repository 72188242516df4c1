"""`foliot`: the command line. A refusal goes to standard error with exit code 2, never as a traceback."""

import argparse
import os
import sys

from foliot.cli import preview
from foliot.domain.errors import Invalid


def main() -> None:
    parser = argparse.ArgumentParser(prog="foliot", description="Durable scheduling. For now: when does a spec fire?")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    preview.add_command(commands)
    arguments = parser.parse_args()
    try:
        print(arguments.run(arguments), flush=True)
    except Invalid as refusal:
        print(f"foliot: {refusal}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader, `head` perhaps, has seen enough. Nothing more is to be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"foliot: cannot write the answer: {error.strerror}", file=sys.stderr)
        os._exit(1)  # A plain exit would try to write it once more, and fail with a traceback.
