"""What can be wrong around an installation. One function per check, listed in ``CHECKS``.

A check takes a ``Look`` and yields findings; it creates nothing and repairs nothing. Adding one
is a function in the file of its subject and a row in ``scripts.doctor.checks``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from hooks.home import resolve_home
from scripts.installer import profile_folder, project_target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# "note" is worth knowing and nobody's fault; only "warn" and "fail" need a person.
Level = Literal["ok", "note", "warn", "fail"]
NEEDS_A_PERSON = ("warn", "fail")


class Finding(NamedTuple):
    level: Level
    what: str
    next: str = ""  # the next step; empty only for "ok"


def needs_a_person(found: list[tuple[str, Finding]]) -> bool:
    return any(finding.level in NEEDS_A_PERSON for _, finding in found)


class Look(NamedTuple):
    """Who looks, from where and when."""

    env: Mapping[str, str]
    at: datetime
    cwd: str
    root: str  # folder that holds the packages ``hooks`` and ``scripts``

    @property
    def home(self) -> str:
        return resolve_home(self.env)

    @property
    def profile(self) -> str:
        return profile_folder(self.env)

    @property
    def settings_files(self) -> list[str]:
        """The agent's settings that hold here, the strongest first, the person's last."""
        project = os.path.join(project_target(self.env, self.cwd).project, ".claude")
        person = os.path.join(self.profile, "settings.json")
        shared = os.path.join(project, "settings.json")
        own = [] if shared == person else [shared]  # a session in the person's home folder
        return [os.path.join(project, "settings.local.json"), *own, person]
