"""Checks of external needs: credentials, services, network."""

import socket
from collections.abc import Mapping

from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.preflight.checks import Candidate, Items, blocking, join_names, ok, warning
from mosaic.trainer.secrets import Secrets

_WANDB_KEY = "WANDB_API_KEY"
_HUB_TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
_UPLOADS = "upload_model"
_TRACKS = "track"
"""CleanRL's name of the parameter that enables W&B."""
_OPTIONAL = frozenset({_WANDB_KEY, _HUB_TOKEN, "MOSAIC_XMPP_PASSWORD", "MOSAIC_XMPP_ACCOUNT"})
"""Credentials of trackers and hubs, and accounts on servers that do not create them."""
_XMPP = "xmpp"
"""A service that a run may name in a parameter, even if its worker does not require it."""
_CONNECT_LIMIT_S = 2.0


def check_wandb(
    candidate: Candidate, secrets: Secrets, packages: Mapping[str, str] | None
) -> Items:
    """`packages`: those of the worker's environment; None when it is not installed yet.

    A key that `wandb login` has stored does not count: a run gets its keys by name.
    """
    wandb = candidate.config.artifacts.wandb
    is_on = wandb.enabled or candidate.resolved_params().get(_TRACKS) is True
    if not is_on or wandb.mode == "disabled":
        return
    if packages is not None and "wandb" not in packages:
        yield warning(
            "wandb",
            f"Tracking is on, but the environment of {candidate.worker} has no W&B.",
            "Add the extra `wandb` where its bundle has one (`--extra wandb`), switch"
            " `artifacts.wandb.enabled` off, or choose a worker that tracks.",
        )
    elif wandb.mode == "offline":
        yield ok("wandb", "Tracks offline; the files can be uploaded later.")
    elif secrets.has(_WANDB_KEY):
        yield ok("wandb", f"Tracks online, in the project {wandb.project}.")
    else:
        yield warning(
            "wandb",
            "Tracking is on, but there is no W&B key: the run will track offline.",
            f"Set {_WANDB_KEY} in trainer/secrets.env of the home or in the daemon's environment;"
            " set `artifacts.wandb.mode` to offline if that is intended.",
        )


def check_credentials(candidate: Candidate, secrets: Secrets) -> Items:
    """Optional credentials are passed to a run if they are set."""
    names = candidate.descriptor.needs.credentials
    absent = [name for name in names if not secrets.has(name)]
    missing = [name for name in absent if name not in _OPTIONAL]
    if _HUB_TOKEN in absent and candidate.resolved_params().get(_UPLOADS):
        yield warning(
            "credentials",
            f"`{_UPLOADS}` is set, but {_HUB_TOKEN} is not: the policy will not be uploaded.",
            f"Set {_HUB_TOKEN} in trainer/secrets.env of the home, or `{_UPLOADS}` to false.",
        )
    if missing:
        yield blocking(
            "credentials",
            f"{candidate.worker} needs {join_names(missing)}, which is not set.",
            "Set it in trainer/secrets.env of the home, in a .env file or in the environment of the"
            " daemon.",
        )
    elif set(names) - set(absent):
        set_names = [name for name in names if name not in absent]
        yield ok("credentials", f"{join_names(set_names)} set.")


def check_services(candidate: Candidate, environ: Mapping[str, str]) -> Items:
    """Whether the external services answer.

    The address is the run's parameter of that name, such as `xmpp`, or else the variable
    `MOSAIC_<SERVICE>_ADDRESS`; without either, the service is embedded in the worker.
    """
    params = candidate.resolved_params()
    services = list(candidate.descriptor.needs.services)
    if params.get(_XMPP) and _XMPP not in services:
        services.append(_XMPP)
    for service in services:
        variable = f"MOSAIC_{''.join(c if c.isalnum() else '_' for c in service).upper()}_ADDRESS"
        if isinstance(params.get(service), str):
            # A value that is not an address has a meaning for the worker only.
            given, address = f"`{service}`", str(params[service])
            address = address if ":" in address else ""
        else:
            given, address = variable, environ.get(variable, "")
        if not address:
            yield ok("services", f"{service}: inside the worker.")
            continue
        problem = _connection_problem(address)
        if problem is None:
            yield ok("services", f"{service}: answers at {address}.")
        else:
            yield blocking(
                "services",
                f"{service}: {address} cannot be reached: {problem}.",
                f"Start it, correct {given}, or omit that to use none.",
            )


def _connection_problem(address: str) -> str | None:
    """The error, or None. `address` may start with a domain: `domain@host:port`."""
    host, _, port = address.rpartition("@")[2].rpartition(":")
    if not host or not port.isdecimal():
        return "it is not host:port"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_LIMIT_S):
            return None
    except (OSError, OverflowError, UnicodeError) as error:
        return str(error)


def check_network(candidate: Candidate, machine: Machine) -> Items:
    if not candidate.descriptor.needs.network:
        return
    if machine.has_network():
        yield ok("network", "This machine has a network route.")
    else:
        yield warning(
            "network",
            f"{candidate.worker} needs the network, and this machine has no route to one.",
            "Connect it, or set HTTPS_PROXY before the daemon starts.",
        )
