"""What bash is told so that it completes ids with colons in them, as those of runs have."""

import os
from collections.abc import Sequence

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


def teach_bash(arguments: Sequence[str]) -> None:
    """Put our script in the place of typer's, for whoever asks for it now."""
    if "_FOLIOT_COMPLETE" not in os.environ and not {"--show-completion", "--install-completion"} & set(arguments):
        return
    # Imported here, and private: typer has no other way to change it.
    from typer import _completion_classes, _completion_shared  # noqa: PLC0415

    _completion_shared._completion_scripts["bash"] = _BASH  # noqa: SLF001
    _completion_classes.BashComplete.source_template = _BASH
