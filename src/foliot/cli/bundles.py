"""Options that several commands share: said once, and given to each of them as one argument."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

Parameters = Mapping[str, inspect.Parameter]


def parameters_of(callable_: Callable[..., Any]) -> Parameters:
    """What it takes, by name."""
    return inspect.signature(callable_, eval_str=True).parameters


def bundled(
    command: Callable[..., None], argument: str, shared: Parameters, make: Callable[..., Any]
) -> Callable[..., None]:
    """The command with these options instead of that one argument, which is made of them."""
    own = inspect.signature(command, eval_str=True)

    @wraps(command)
    def with_options(**given: Any) -> None:
        made = make(**{name: given.pop(name) for name in shared})
        command(**{argument: made}, **given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    taken = [parameter for name, parameter in own.parameters.items() if name != argument]
    with_options.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[parameter.replace(kind=keyword) for parameter in (*taken, *shared.values())]
    )
    return with_options
