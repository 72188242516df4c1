"""`foliot init`: a program and settings to begin with."""

import os
from pathlib import Path
from typing import Annotated

from typer import Argument

from foliot.domain.errors import Conflict, Unavailable

PROGRAM = '''\
"""What runs, and when. Start it with `foliot serve app.py`."""

from typing import Any

from foliot import Context, Foliot

app = Foliot(name="starter")


# Every five seconds. What it returns is kept, and is `ctx.last_result` of the next run.
@app.schedule(every="5s")
async def greet(input: Any, ctx: Context) -> int:
    count = (ctx.last_result or 0) + 1
    ctx.log.info("hello, for the %d. time", count)
    return count


# At nine on workdays, by the clocks of Paris. A run that fails is tried again, up to three times in all; one that was
# missed because nothing was running is made up for, the last one only.
@app.schedule(cron="0 9 * * MON-FRI", timezone="Europe/Paris", retry=3, timeout="10m", catchup="last")
def report(input: Any, ctx: Context) -> str:
    # A run may be given again after its worker died, always with the same key: hand it to whatever you call.
    return f"reported {ctx.scheduled_for:%Y-%m-%d} under {ctx.idempotency_key}"
'''

SETTINGS = """\
# Settings of `foliot serve`; `foliot settings show --origin` lists them all.
app = "app.py"

# One file, one process. With PostgreSQL there may be any number of processes:
# database = "postgresql://user@host/name"
database = "sqlite:///foliot.db"

# Where the API listens. Other machines can reach it at 0.0.0.0, once somebody has a key: `foliot key create`.
host = "127.0.0.1"
port = 8420

# For how long runs are kept after their end.
keep_for = "90d"
"""

_FILES = {"app.py": PROGRAM, "foliot.toml": SETTINGS}


def init(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="Where to write them; else here.")] = Path(),
) -> None:
    """Write a program and settings to begin with: app.py and foliot.toml. Nothing that is there is overwritten.

    \b
    Examples:
      foliot init
      foliot init my-schedules
    """
    there = [str(folder / name) for name in _FILES if (folder / name).exists()]
    if there:
        raise Conflict(f"there is {' and '.join(there)} already, and nothing is overwritten: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in _FILES.items():
            (folder / name).write_text(text)
    except (FileExistsError, NotADirectoryError) as error:
        raise Conflict(
            f"{folder} is no folder, or is in none: name another, or remove the file that is there"
        ) from error
    except OSError as error:
        raise Unavailable(f"{folder} cannot be written: {error.strerror}") from error
    go = "" if folder == Path() else f"cd {folder}{os.linesep}"
    print(f"Wrote {' and '.join(str(folder / name) for name in _FILES)}. Now:\n{go}foliot serve app.py")
