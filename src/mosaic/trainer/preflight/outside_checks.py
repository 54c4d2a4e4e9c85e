"""What the run needs from outside of this machine, or from a person: keys, services, a network."""

import socket
from collections.abc import Mapping

from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.preflight.checks import Candidate, Items, blocking, listing, ok, warning
from mosaic.trainer.secrets import Secrets

_WANDB_KEY = "WANDB_API_KEY"
_HUB_TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
_UPLOADS = "upload_model"
_TRACKS = "track"
"""As CleanRL calls the parameter that switches W&B on."""
_OPTIONAL = frozenset({_WANDB_KEY, _HUB_TOKEN, "MOSAIC_XMPP_PASSWORD", "MOSAIC_XMPP_ACCOUNT"})
"""Of trackers and hubs, and of accounts on a server that makes none by itself."""
_XMPP = "xmpp"
"""A service that a run may name in a parameter, also of a worker that does without."""
_CONNECT_LIMIT_S = 2.0


def check_wandb(
    candidate: Candidate, secrets: Secrets, packages: Mapping[str, str] | None
) -> Items:
    """`packages`: those of the worker's environment; None when it is not installed yet.

    What `wandb login` has left in a file does not count: a run is given its keys by name.
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
            " `artifacts.wandb.mode` offline says that it is meant so.",
        )


def check_credentials(candidate: Candidate, secrets: Secrets) -> Items:
    """Those that are optional are given to a run when they are set."""
    names = candidate.descriptor.needs.credentials
    absent = [name for name in names if not secrets.has(name)]
    missing = [name for name in absent if name not in _OPTIONAL]
    if _HUB_TOKEN in absent and candidate.resolved_params().get(_UPLOADS):
        yield warning(
            "credentials",
            f"The policy is to be uploaded, but {_HUB_TOKEN} is not set: it will stay here.",
            f"Set {_HUB_TOKEN} in trainer/secrets.env of the home, or `{_UPLOADS}` to false.",
        )
    if missing:
        yield blocking(
            "credentials",
            f"{candidate.worker} needs {listing(missing)}, which is not set.",
            "Set it in trainer/secrets.env of the home, in a .env file or in the environment of the"
            " daemon.",
        )
    elif set(names) - set(absent):
        there = [name for name in names if name not in absent]
        yield ok("credentials", f"{listing(there)} set.")


def check_services(candidate: Candidate, environ: Mapping[str, str]) -> Items:
    """Whether a service outside of the worker answers.

    Where it is, says the run's parameter of that name, such as `xmpp`, and else the variable
    `MOSAIC_<SERVICE>_ADDRESS`; where neither does, it is embedded in the worker.
    """
    params = candidate.resolved_params()
    services = list(candidate.descriptor.needs.services)
    if params.get(_XMPP) and _XMPP not in services:
        services.append(_XMPP)
    for service in services:
        variable = f"MOSAIC_{''.join(c if c.isalnum() else '_' for c in service).upper()}_ADDRESS"
        if isinstance(params.get(service), str):
            # What is no address is one of the worker's own ways.
            given, address = f"`{service}`", str(params[service])
            address = address if ":" in address else ""
        else:
            given, address = variable, environ.get(variable, "")
        if not address:
            yield ok("services", f"{service}: inside the worker.")
            continue
        problem = _cannot_connect(address)
        if problem is None:
            yield ok("services", f"{service}: answers at {address}.")
        else:
            yield blocking(
                "services",
                f"{service}: {address} cannot be reached: {problem}.",
                f"Start it, or correct {given}, or leave that out to do without one outside.",
            )


def _cannot_connect(address: str) -> str | None:
    """`address` may begin with the domain that is meant: `domain@host:port`."""
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
        yield ok("network", "This machine has a way to the network.")
    else:
        yield warning(
            "network",
            f"{candidate.worker} needs the network, and this machine has no route to one.",
            "Connect it, or set HTTPS_PROXY before the daemon starts.",
        )
