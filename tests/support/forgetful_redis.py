"""A way to a real Redis that loses answers: what was asked is done, and nobody hears of it."""

from __future__ import annotations

import select
import socket
import threading


class Forgetful:
    """Use it in a ``with`` block. ``lose`` says how many answers to ``word`` get lost next."""

    def __init__(self, port: int, word: bytes) -> None:
        self._to, self.word = port, word
        self.lose, self.lost = 0, 0
        self._door = socket.create_server(("127.0.0.1", 0))
        self._links: list[socket.socket] = []
        self.url = f"redis://127.0.0.1:{self._door.getsockname()[1]}"

    def __enter__(self) -> Forgetful:
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for link in self._links:
            self._end(link)
        self._thread.join()

    def _accept(self) -> None:
        serving = []
        while True:
            try:
                link, _ = self._door.accept()
            except OSError:
                break
            self._links.append(link)
            serving.append(threading.Thread(target=self._serve, args=(link,)))
            serving[-1].start()
        for thread in serving:
            thread.join()

    def _serve(self, link: socket.socket) -> None:
        with link, socket.create_connection(("127.0.0.1", self._to)) as server:
            try:
                self._relay(link, server)
            except OSError:
                return

    def _relay(self, link: socket.socket, server: socket.socket) -> None:
        """Pass on both ways; end where an answer gets lost, which is when it has come."""
        losing = False
        while True:
            for one in select.select([link, server], [], [])[0]:
                data = one.recv(1 << 20)
                if not data or (one is server and losing):
                    self.lost += losing
                    return
                if one is link and self.word in data and self.lose:
                    self.lose, losing = self.lose - 1, True
                (server if one is link else link).sendall(data)

    @staticmethod
    def _end(link: socket.socket) -> None:
        try:
            link.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        link.close()
