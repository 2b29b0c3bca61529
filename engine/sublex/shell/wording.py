"""Put the commands that a message names into the words of the shell: `:fit lsi` in place of `sublex fit INDEX lsi`."""

from __future__ import annotations

import re
from pathlib import Path

from sublex.tools.messages import command

# Commands of the command line that take an index, and the commands of the shell that do the same.
TWINS = {
    "card": "card",
    "check": "check",
    "doc": "doc",
    "fit": "fit",
    "forget": "forget",
    "info": "overview",
    "terms": "terms",
}
# An argument in quotes, which the command line needs and the shell does not, or an option that :fit has no need of.
_NEEDLESS = re.compile(rf"(?<= :)({'|'.join(TWINS.values())}) (?:'([^']*)'|([^\s']+))(?: --update)?(?=[.,;]|$| &&)")


def in_shell(message: str, path: Path) -> str:
    """Return a message in which commands for the index at a path stand as the shell takes them."""
    for name, twin in TWINS.items():
        for index in (path, path.absolute(), "INDEX"):
            message = message.replace(f"{command(name, index)} ", f":{twin} ")
    message = message.replace(": sublex components", ": :components").replace(" && :", ", then :")
    return _NEEDLESS.sub(lambda match: f"{match[1]} {match[2] or match[3]}", message)
