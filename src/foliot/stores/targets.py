"""Targets: their numbers, and whether any program has ever registered them."""

from collections.abc import Iterable, Sequence

from foliot.stores.part import Part


class Targets(Part):
    def target_refs(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of these targets, given now to those that had none."""
        wanted = sorted(set(names))
        found = self._known(wanted)
        if len(found) < len(wanted):
            # First, so that of those who add targets each waits here, and nobody in a circle.
            self._tell("targets")
            for name in wanted:
                if name not in found:
                    self._do("INSERT INTO targets (name) VALUES (?) ON CONFLICT DO NOTHING", name)
            found = self._known(wanted)
        return found

    def _known(self, names: Sequence[str]) -> dict[str, int]:
        text = f"SELECT name, ref FROM targets WHERE {self.dialect.any_text_of('name')}"
        return {str(name): int(ref) for name, ref in self._all(text, self.dialect.list_of_texts(names))}

    def targets_of(self, provider: str) -> dict[str, int]:
        """The numbers of all targets of a provider, given as `provider:`."""
        text = "SELECT name, ref FROM targets WHERE substr(name, 1, ?) = ? AND name <> ?"
        return {str(name): int(ref) for name, ref in self._all(text, len(provider), provider, provider)}

    def unregistered(self, names: Iterable[str]) -> list[str]:
        """Those of these that no program has registered yet; `provider:*` stands for the provider as a whole."""
        wanted = {_stored(name): name for name in names}
        text = f"SELECT name FROM targets WHERE {self.dialect.any_text_of('name')} AND registered_at IS NOT NULL"
        registered = {str(name) for (name,) in self._all(text, self.dialect.list_of_texts(wanted))}
        return sorted(name for stored, name in wanted.items() if stored not in registered)

    def register_targets(self, names: Sequence[str]) -> None:
        """From now on some program has registered these, whether it is at work or not."""
        if names:
            self._tell("targets")
        text = (
            "INSERT INTO targets (name, registered_at) VALUES (?, ?) ON CONFLICT (name)"
            " DO UPDATE SET registered_at = excluded.registered_at WHERE targets.registered_at IS NULL"
        )
        for name in names:
            self._do(text, _stored(name), self.now)

    def orphans(self) -> dict[str, int]:
        """The numbers of the targets that no program has ever registered."""
        text = "SELECT name FROM targets WHERE registered_at IS NOT NULL AND substr(name, length(name)) = ':'"
        whole = {str(name) for (name,) in self._all(text)}
        rows = self._all("SELECT name, ref FROM targets WHERE registered_at IS NULL ORDER BY ref")
        return {str(name): int(ref) for name, ref in rows if f"{name.partition(':')[0]}:" not in whole}


def _stored(name: str) -> str:
    """A provider as a whole has a row that no target can have: its name and nothing after the colon."""
    return name.removesuffix("*") if name.endswith(":*") else name
