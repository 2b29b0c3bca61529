"""The checks of all components: imports are quick, parameters fit, and objects can be made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from unittest import SkipTest

from sublex.contracts.base import Param
from sublex.errors import InputError
from sublex.language.parameters import typed
from sublex.language.plugins import Plugin
from sublex.testing.subject import Subject, called, child

# A child process that registers all components of a plugin, and prints the heavy modules that were imported.
REGISTER_CHILD = """
import sys
from importlib.metadata import entry_points
(point,) = [point for point in entry_points(group="sublex") if point.name == sys.argv[1]]
module = point.load()
for name in sys.argv[2:]:
    getattr(module, name)(register=lambda *args, **named: None)
sys.stdout.write(",".join(sorted({"numba", "scipy"} & set(sys.modules))))
"""


def registering_is_light(plugin: Plugin) -> None:
    """Registering the plugin imports neither Numba nor SciPy."""
    heavy = child(REGISTER_CHILD, plugin.name, *plugin.hooks).strip()
    assert not heavy, f"registering {plugin.name} imports {heavy}; import it in the factory"


def parameters_fit(subject: Subject) -> None:
    """The default of each parameter has the declared type and lies in the declared range, and the factory takes each parameter."""
    for param in subject.registration.params:
        _range_fits(param)
        if param.default is not ...:
            try:
                typed(subject.registration.name, param, param.default, subject.registry.resolve_all)
            except InputError as error:
                raise AssertionError(
                    f"the default of {param.name} does not fit its declaration ({error}); change one of them"
                ) from None
    names = [param.name for param in subject.registration.params]
    try:
        signature = inspect.signature(subject.registration.factory)
    except ValueError:
        return  # A factory in C need not have a signature.
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        declared = ", ".join(names) or "no parameters"
        raise AssertionError(
            f"the factory does not take what params declares, {declared}: {error}; change one of them"
        ) from None


def _range_fits(param: Param) -> None:
    if param.range and param.type in (int, float):
        low_and_high = len(param.range) == 2 and param.range[0] <= param.range[1]
        assert low_and_high, f"the range of {param.name} is {param.range}; write (lowest, highest)"


def can_be_made(subject: Subject) -> None:
    """The factory makes an object with the parameters, and what is fitted can be fitted to the demo collection."""
    called("the factory", subject.component.make)
    if subject.kind in ("expander", "filter", "smoother", "representation"):
        called("fit", lambda: subject.index)
        called("load", lambda: subject.made)


def values_are_given(subject: Subject) -> None:
    """The component is checked with values for its parameters."""
    name, wanted = subject.registration.name, [p.name for p in subject.registration.params if p.default is ...]
    call = f"{name}({', '.join(f'{each}=…' for each in wanted)})"
    raise SkipTest(
        f"{name} has no default for {' and '.join(wanted)}, so it was not checked; name it too, as in '{call}'"
    )


PLUGIN: tuple[Callable[[Plugin], None], ...] = (registering_is_light,)
COMPONENT: tuple[Callable[[Subject], None], ...] = (parameters_fit, can_be_made)
UNCHECKED: tuple[Callable[[Subject], None], ...] = (parameters_fit, values_are_given)
