"""The self-test of one brain: rounds of sessions in trouble, then the count."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING, NamedTuple

from scripts.selftest.brains import PEOPLE, PROJECTS
from scripts.selftest.player import Player, kill_workers, settle
from scripts.selftest.trouble import some_kill

if TYPE_CHECKING:
    from collections.abc import Callable

    from scripts.selftest.brains import Local

    Progress = Callable[[int, int], None]

LONG, SHORT = (36, 28.0), (2, 2.5)  # rounds, and seconds after which no round begins
ENDING = 2  # steps of the progress behind the rounds


class Memory(NamedTuple):
    text: str
    person: str
    project: str
    personal: bool

    @property
    def marker(self) -> str:
        scope = " scope=user" if self.personal else ""
        return f"<!-- @lesson{scope} -->{self.text}<!-- @/lesson -->"


class Outcome(NamedTuple):
    brain: str
    written: int
    lost: tuple[str, ...]
    doubled: tuple[str, ...]
    leaked: tuple[str, ...]
    wrong: tuple[str, ...]  # hooks that did not keep to their contract, workers that stayed
    kills: int
    hooks: int
    hook_s: float  # the median of the hooks that were left alone
    seconds: float
    failed: int  # how often the brain itself did, on purpose

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.doubled or self.leaked or self.wrong)


class Selftest:
    """One run, decided by ``seed`` but for the moments at which the system runs what."""

    def __init__(self, brain: Local, seed: int, *, quick: bool) -> None:
        self.brain, self.stage, self.chance = brain, brain.stage, random.Random(seed)
        self.rounds, self.budget_s = SHORT if quick else LONG
        self.troubles = list(brain.troubles)
        self.chance.shuffle(self.troubles)
        self.written: list[Memory] = []
        self.kills = 0
        self.players: dict[Player, str] = {}
        for place, project in enumerate(PROJECTS):
            folder = make_project(self.stage.folder, place, project)
            for person in PEOPLE:
                self.players[Player(self.stage, folder, person, f"{person}-{place}")] = project

    def run(self, progress: Progress) -> Outcome:
        began = time.monotonic()
        total = self.rounds + ENDING
        for player in self.players:
            player.start()
        for number in range(self.rounds):
            progress(number, total)
            if time.monotonic() - began > self.budget_s:
                break
            self._round(number)
        progress(self.rounds, total)
        healed = self._heal()
        progress(self.rounds + 1, total)
        found = self._count(healed, began)
        progress(total, total)
        return found

    def _round(self, number: int) -> None:
        self.brain.fail(number, self.chance)
        for player, project in self.players.items():
            player.prompt()
            personal = self.chance.random() < 0.25
            text = f"lesson {len(self.written):04} by {player.principal} at {project}"
            memory = Memory(text, player.principal, project, personal)
            player.says(f"Done.\n\n{memory.marker}\n")
            self.written.append(memory)
            if self.chance.random() < 0.5:
                self.kills += 1
                (player.end if self.chance.random() < 0.3 else player.stop)(some_kill(self.chance))
            else:
                player.stop()
            if self.chance.random() < 0.3:
                self.kills += kill_workers(self.stage.home)
        if self.brain.way:  # the failure is met, not only there
            player.stop()
            settle(self.stage.home)
        # A file that is overwritten under a running writer proves nothing about us.
        self.kills += kill_workers(self.stage.home)
        self.troubles[number % len(self.troubles)](self.stage.home, self.chance)

    def _heal(self) -> bool:
        """Let every session go on once, as people do after a crash; say whether all ended."""
        self.brain.heal()
        healed = settle(self.stage.home)
        for player in self.players:
            player.start("resume")
            player.stop()
            healed = settle(self.stage.home) and healed
        for player in self.players:
            player.end()
        return settle(self.stage.home) and healed

    def _count(self, healed: bool, began: float) -> Outcome:
        stored = self.brain.stored()
        leaked = []
        for player, project in self.players.items():
            told = [item.text for item in self.brain.items(project, player.principal)]
            player.start("clear")
            leaked += [
                f"{memory.text!r} to {player.principal} at {project}"
                for memory in self.written
                if _is_foreign(memory, player.principal, project)
                and (memory.text in told or memory.text in player.context)
            ]
        settle(self.stage.home)
        wrong = [f"{w.event}: {w.what}" for player in self.players for w in player.wrong]
        wrong += [] if healed else ["a worker did not end"]
        took = sorted(s for player in self.players for s in player.took)
        texts = [memory.text for memory in self.written]
        return Outcome(
            brain=self.brain.name,
            written=len(texts),
            lost=tuple(text for text in texts if text not in stored),
            doubled=tuple(text for text in texts if stored.count(text) > 1),
            leaked=tuple(leaked),
            wrong=tuple(wrong),
            kills=self.kills,
            hooks=len(took),
            hook_s=took[len(took) // 2] if took else 0.0,
            seconds=time.monotonic() - began,
            failed=self.brain.failures(),
        )


def _is_foreign(memory: Memory, person: str, project: str) -> bool:
    return memory.project != project or (memory.personal and memory.person != person)


def make_project(folder: str, place: int, project: str) -> str:
    """Make a repository of one commitless branch with that remote; git itself is not needed."""
    made = os.path.join(folder, str(place), "web")
    for name in ("objects", "refs"):
        os.makedirs(os.path.join(made, ".git", name))
    config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = https://{project}.git\n'
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", config)):
        with open(os.path.join(made, ".git", name), "w", encoding="utf-8") as file:
            file.write(text)
    return made
