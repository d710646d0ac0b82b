"""Kill a drain to a brain service before every one of its steps: 0 lost, 0 doubled.

After each kill the service is restarted, so that it has forgotten its keys: only what this home
knows, and what the feed shows, keeps a marker from being written twice.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from hooks.settings import Http
from tests.contracts.test_crash_points import RUNNER
from tests.support.brain_server import BrainServer
from tests.support.git import make_repo
from tests.support.keeping import Kept, lesson

LONG = " ".join(f"word{number}" for number in range(800))  # two parts
MOST_STEPS = 400


class Person(Kept):
    def __init__(self, folder, server):
        project = make_repo(folder / "web", "https://git.example.org/shop/web.git")
        super().__init__(folder / "person" / "agentihooks", project)
        self.server = server
        self.ask()
        self.say(lesson("one"), lesson(LONG))
        self.collect()

    @property
    def settings(self):
        http = Http(token=self.server.token)
        return super().settings._replace(brain_url=self.server.url, http=http)

    def drain_killed(self, limit):
        """Drain in a process of its own; return its steps, or None where it was killed."""
        settings = self.settings
        named = {"home": settings.home, "brain_url": settings.brain_url}
        said = {
            "settings": {**named, "http": settings.http._asdict()},
            "env": self.env,
            "at": self.tick().isoformat(),
            "event": {"name": "Stop"},
        }
        return RUNNER.steps("drain", limit, json.dumps(said))


def killed_and_healed(folder, limit):
    """Kill before step ``limit``, restart the service, drain again; what went wrong, or ""."""
    with BrainServer(folder / "service") as server:
        person = Person(folder, server)
        if person.drain_killed(limit) is not None:
            return f"step {limit}: it was not killed"
        server.restart()
        person.drain()
        contents = server.contents()
    whole = [text for text in contents if text != "one"]
    if contents.count("one") != 1 or "".join(whole) != LONG:
        return f"step {limit}: {[text[:20] for text in contents]}"
    if person.waiting() or not set(person.states()) <= {"committed", "replayed"}:
        return f"step {limit}: {person.states()}, {person.waiting()}"
    return ""


def test_a_drain_to_a_service_killed_before_any_step_loses_and_doubles_nothing(tmp_path):
    (tmp_path / "whole").mkdir()
    with BrainServer(tmp_path / "whole" / "service") as server:
        steps = Person(tmp_path / "whole", server).drain_killed(MOST_STEPS)
        assert server.contents()[0] == "one"
    assert steps is not None
    assert 20 < steps < MOST_STEPS
    folders = [tmp_path / str(limit) for limit in range(steps)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(killed_and_healed, folders, range(steps)))
    assert [what for what in found if what] == []
