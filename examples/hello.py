"""Two schedules: one that greets every five seconds, and one that sums up every minute. Run it with `make serve`."""

from typing import Any

from foliot import Context, Foliot

app = Foliot(name="hello")


@app.schedule(every="5s", overlap="skip")
@app.graph("greet")
async def greet(input: Any, ctx: Context) -> int:
    count = (ctx.last_result or 0) + 1
    print(f"{ctx.scheduled_for:%H:%M:%S}  hello, for the {count}. time", flush=True)
    return count


@app.schedule(cron="* * * * *", timezone="Europe/Paris", catchup="last")
@app.graph("sum-up")
def sum_up(input: Any, ctx: Context) -> None:
    greeted = app.runs.list("greet", status="success", limit=1000)
    print(f"{ctx.scheduled_for:%H:%M:%S}  {len(greeted)} greetings so far", flush=True)


if __name__ == "__main__":
    app.run()
