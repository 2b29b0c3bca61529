"""Commands about plugins."""

from __future__ import annotations

import json

import click

from sublex.cli.output import format_option, table


@click.command()
@format_option("table", "json")
def plugins(form: str) -> None:
    """List plugins: what each registers, or why it failed."""
    from sublex import plugins

    found = plugins.load().plugins
    if form == "json":
        records = [
            {
                "name": p.name,
                "module": p.module,
                "distribution": p.distribution,
                "version": p.version,
                "hooks": p.hooks,
                "registers": [f"{r.kind} {r.name}" for r in p.registered],
                "error": p.error,
            }
            for p in found
        ]
        click.echo(json.dumps(records, indent=1))
        return
    table(
        [
            (p.name, f"{p.distribution} {p.version}".strip(), (p.error and f"failed: {p.error}") or _registers(p))
            for p in found
        ],
        ("plugin", "from", "registers"),
    )


def _registers(plugin) -> str:
    kinds: dict[str, list[str]] = {}
    for registration in plugin.registered:
        kinds.setdefault(registration.kind, []).append(registration.name)
    return "; ".join(f"{kind}s {', '.join(names)}" for kind, names in kinds.items()) or ", ".join(plugin.hooks)
