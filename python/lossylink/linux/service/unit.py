"""The unit by which systemd runs guards: a template, with an instance for each table of the file."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from lossylink.errors import UserError
from lossylink.linux.lab.settings import WIRE_PRIORITY

_PACKAGE = Path(__file__).resolve().parents[2]
#: Where the unit and the configuration go, below a prefix.
UNIT_FILE = Path("etc/systemd/system/lossylink-guard@.service")
CONFIG_FILE = Path("etc/lossylink/guard.toml")
#: Folders of users, which a service does not see unless it must.
_HOMES = tuple(Path(name) for name in ("/home", "/root", "/run/user"))
#: Folders in whose place a service sees others of its own.
_PRIVATE = tuple(Path(name) for name in ("/tmp", "/var/tmp"))

_UNIT = """\
[Unit]
Description=lossylink guard %i
After=network.target

[Service]
Type=notify
NotifyAccess=main
ExecStart={lossylink} guard --config /{config} --name %i
# A guard that was killed has not put its interfaces back.
ExecStopPost={lossylink} restore
Restart=on-failure
RestartSec=5
# The loop that carries frames gives the signs of life itself.
WatchdogSec=30

# Control sockets, and what interfaces were like. All guards share it: none takes it away when it ends.
RuntimeDirectory=lossylink
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
UMask=0077

# Real-time priority and locked memory, without capabilities.
LimitRTPRIO={priority}
LimitMEMLOCK=infinity
# MTU and offloads; packet sockets. The guard gives up the second once its ports are open.
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW
NoNewPrivileges=yes

ProtectSystem=strict
ProtectHome={home}
PrivateTmp=yes
# ProtectProc is left out: a guard has to see whether another one uses its interface.
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
DevicePolicy=closed
DeviceAllow=/dev/net/tun rw
# AF_INET carries settings of interfaces, and metrics.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET AF_XDP
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
"""


def unit_text() -> str:
    """Return the text of the unit for the Python and the lossylink that run now."""
    home = "read-only" if any(_is_below(path, _HOMES) for path in _needed()) else "yes"
    lossylink = f"{_quoted(sys.executable)} -m lossylink"
    return _UNIT.format(lossylink=lossylink, config=CONFIG_FILE, priority=WIRE_PRIORITY, home=home)


def _quoted(path: str) -> str:
    """Write the path of a program as the first word of a command (systemd.service(5), "Command lines").

    systemd refuses programs with a quotation mark or a backslash in their path.
    """
    escaped = path.replace("%", "%%")
    return f'"{escaped}"' if " " in path else escaped


def require_reachable() -> None:
    """Refuse an installation that a service could not read: its root may not pass over permissions.

    Raises
    ------
    UserError
        Python or lossylink is in a folder that is closed to root's service, or hidden from it.
    """
    mend = "install lossylink elsewhere, such as in a virtual environment below /opt"
    for path in _needed():
        if _is_below(path, _PRIVATE):
            raise UserError(f"a service does not see {path}, since it has a /tmp of its own; {mend}")
        for folder in path.parents:
            found = folder.stat()
            if found.st_uid != 0 and not found.st_mode & stat.S_IXOTH:
                raise UserError(f"{folder} is closed to a service, and {path} is in it; {mend}")


def _needed() -> list[Path]:
    """Return what a guard is made of: Python, its libraries, lossylink."""
    named = (Path(sys.executable), Path(os.path.realpath(sys.executable)), Path(sys.base_prefix), _PACKAGE)
    return [path.absolute() for path in named]


def _is_below(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
