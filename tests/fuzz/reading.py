"""What every cron text must stand, whoever makes it up."""

from foliot import Invalid, Spec

NOW = 1_794_700_800


def read_anything(text: str) -> None:
    """Read or refused; and what is read round-trips and answers."""
    for dialect in ("cron", "temporal"):
        spec = Spec(cron=(text,), dialect=dialect)
        try:
            times = spec.compile()
        except Invalid:
            continue
        following = times.next_after(NOW)
        assert following is None or times.matches(following)
        assert Spec.from_canonical(spec.canonical()).compile().next_after(NOW) == following
        assert spec.describe()
        spec.warnings(NOW)
