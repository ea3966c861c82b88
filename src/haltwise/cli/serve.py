"""``haltwise serve``: the gateway on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ..core.errors import InputError
from ..core.expression import parse_policy
from .number import Number
from .options import json_option

_SIGNALS = ("lexical", "stated", "side-channel")


@click.command()
@click.option("--upstream", required=True, metavar="URL", help="Base URL of the model API.")
@click.option(
    "--policy",
    required=True,
    metavar="EXPR",
    help='A rule such as "streak(5) | deadline(8)", or a policy file.',
)
@click.option(
    "--signal",
    type=click.Choice(_SIGNALS),
    default="lexical",
    show_default=True,
    help="Who judges the results: word overlap, the agent's own words, or the model on a copy.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Allow an address that others can reach.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="0: any free one.",
)
@click.option(
    "--fail",
    type=click.Choice(("open", "closed")),
    default="open",
    show_default=True,
    help="Where no decision can be made: forward unchanged, or refuse with status 503.",
)
@click.option(
    "--exempt",
    multiple=True,
    metavar="TOOL",
    help="Tool that neither counts nor resets; repeatable.",
)
@click.option(
    "--answer-tool",
    multiple=True,
    metavar="TOOL",
    help="Tool whose call is the answer and that stays after the stop; repeatable. "
    "[default: final_answer]",
)
@click.option("--watch", is_flag=True, help="Decide and report, but change nothing.")
@click.option(
    "--mark-forced",
    is_flag=True,
    help="Say below a forced answer that it was forced, so that a parent agent's gateway sees it.",
)
@click.option(
    "--log",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the loops that pass as episodes for haltwise audit.",
)
@click.option("--log-content", is_flag=True, help="Keep texts in the episodes, too.")
@click.option(
    "--timeout",
    type=Number(0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds that the upstream may stay silent.",
)
@click.option(
    "--body-limit",
    type=click.IntRange(1),
    default=64 << 20,
    show_default=True,
    help="Bytes of a request body.",
)
@click.option("--verbose", is_flag=True, help="One line a request on stderr; never any content.")
@json_option
def command(
    upstream: str,
    policy: str,
    signal: str,
    host: str,
    allow_remote: bool,
    port: int,
    fail: str,
    exempt: tuple[str, ...],
    answer_tool: tuple[str, ...],
    watch: bool,
    mark_forced: bool,
    log: Path | None,
    log_content: bool,
    timeout: float,
    body_limit: int,
    verbose: bool,
    as_json: bool,
) -> None:
    """Stop search loops of any agent, in front of any model API.

    Point the agent's base URL at this gateway. Every request is decided from its own history: when
    the policy stops the loop, tools are switched off and the answer is demanded.

    \b
        haltwise serve --upstream https://api.openai.com --policy "streak(5) | deadline(8)"
    """
    try:
        from ..gateway.server import Gateway
        from ..gateway.settings import ANSWER_TOOLS, Settings, is_loopback
    except ImportError as error:
        raise InputError(
            f"serve needs {error.name}; type: pip install 'haltwise[gateway]'"
        ) from None
    if not is_loopback(host) and not allow_remote:
        raise InputError(
            f"--host {host} can be reached by others, who could use the gateway with their keys; "
            "add --allow-remote if that is meant"
        )
    if log_content and log is None:
        raise InputError("--log-content needs a folder; add --log DIR")
    settings = Settings(
        upstream=upstream,
        policy=_policy(policy),
        policy_name=Path(policy).name if policy.strip().endswith(".toml") else policy.strip(),
        signal=_signal(signal),
        exempt=frozenset(exempt),
        answer_tools=frozenset(answer_tool) or ANSWER_TOOLS,
        watch=watch,
        fail_open=fail == "open",
        mark_forced=mark_forced,
        log=log,
        log_content=log_content,
        body_limit=body_limit,
        timeout=timeout,
    )

    def ready(url: str) -> None:
        start = {"url": url, "policy": settings.shown}
        if as_json:
            click.echo(json.dumps(start))
            return
        click.echo(f"{url} -> {upstream}")
        click.echo(f"policy: {settings.shown}{' (watching only)' if watch else ''}")

    _run(Gateway(settings), host, port, ready, verbose)


def _policy(text: str) -> Any:
    if ".toml" not in text:
        return parse_policy(text)
    # Only a policy file needs the record package, and numpy with it: 16 MB of memory.
    from ..record.policy_file import load_policy

    return load_policy(text)


def _signal(word: str) -> Any:
    from ..signals import Lexical, SideChannel, Stated

    return {"lexical": Lexical, "stated": Stated, "side-channel": SideChannel}[word]()


def _run(gateway: Any, host: str, port: int, ready: Any, verbose: bool) -> None:
    import asyncio
    import logging
    import signal
    import sys

    from ..gateway.server import serve

    if verbose:
        logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s")
        logging.getLogger("haltwise.gateway").setLevel(logging.INFO)

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop.set)
        await serve(gateway, host, port, stop, ready)

    asyncio.run(main())
