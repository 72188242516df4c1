"""What shells are told so that they complete: to bash how, as ids of runs have colons in them, and which is meant."""

import os
from collections.abc import Sequence
from functools import partial

from foliot.domain.errors import Invalid

_BASH = r"""
%(complete_func)s() {
    local IFS=$'\n' words word kept
    local line="${COMP_LINE:0:COMP_POINT}"
    IFS=$' \t' read -r -a words <<< "$line."
    COMPREPLY=( $( env COMP_WORDS="$line" COMP_CWORD=$(( ${#words[@]} - 1 )) \
                   %(autocomplete_var)s=complete_bash $1 ) )
    # To bash a colon ends a word: it puts in only what comes after the last one.
    word="${line##*[[:space:]]}"
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        kept="${word%%"${word##*:}"}"
        COMPREPLY=( "${COMPREPLY[@]#"$kept"}" )
    fi
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""


_ASKED_BY = ("--show-completion", "--install-completion")
_SHELLS = ("bash", "zsh", "fish")


def teach_typer(arguments: Sequence[str]) -> None:
    """Put our script in the place of typer's, and the shell that is named in that of the one it sees, if asked now."""
    asked = next((number for number, word in enumerate(arguments) if word in _ASKED_BY), None)
    if "_FOLIOT_COMPLETE" not in os.environ and asked is None:
        return
    # Imported here, and private: typer has no other way to change it.
    from typer import _completion_classes, _completion_shared, completion  # noqa: PLC0415

    _completion_shared._completion_scripts["bash"] = _BASH  # noqa: SLF001
    _completion_classes.BashComplete.source_template = _BASH
    if asked is not None and arguments[asked + 1 :]:
        named = partial(_shell_of, *arguments[asked : asked + 2])
        for module in (_completion_shared, completion):
            module._get_shell_name = named  # type: ignore[attr-defined]  # noqa: SLF001


def _shell_of(option: str, word: str) -> str:
    if word not in _SHELLS:
        raise Invalid(f"{option} takes {', '.join(_SHELLS)}, or nothing for the shell that it is in, got {word!r}")
    return word
