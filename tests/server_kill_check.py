#!/usr/bin/env python3
"""hyper serve --store, killed with SIGKILL under load and started again: no run is lost whose id a
client knows, a reply that came to its end is stored as done, and no id is given twice. Part of
`make check-full`.

    tests/server_kill_check.py HYPER [KILLS]
"""

import http.client
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS = 12


def start(program, store):
    server = subprocess.Popen([program, "serve", "--port", "0", "--store", store],
                              stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().split("//")[1].strip().rstrip("/")


def request(address, method, path, body=None):
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request(method, path, body and json.dumps(body))
    return connection.getresponse()


class Clients:
    """Ask streams until they are told to stop; keep the ids, and those of replies that ended."""

    def __init__(self):
        self.known, self.ended, self.twice = set(), set(), []
        self.lock = threading.Lock()

    def ask(self, address, stopped):
        while not stopped.is_set():
            body = {"model": "tinymath:" + random.choice(["plain", "sc"]), "stream": True, "messages": [
                {"role": "user", "content": "Solve 5x+43=173 for x."}]}
            try:
                reply = request(address, "POST", "/v1/chat/completions", body)
                run = reply.getheader("X-Hyper-Run")
                with self.lock:
                    self.twice += [run] if run in self.known else []
                    self.known.add(run)
                if b"[DONE]" in reply.read():
                    with self.lock:
                        self.ended.add(run)
            except (OSError, http.client.HTTPException):
                pass  # the server was killed


def main():
    program, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8
    clients = Clients()
    with tempfile.TemporaryDirectory() as folder:
        store = str(pathlib.Path(folder) / "runs.db")
        for _ in range(kills):
            server, address = start(program, store)
            stopped = threading.Event()
            threads = [threading.Thread(target=clients.ask, args=(address, stopped)) for _ in range(CLIENTS)]
            for thread in threads:
                thread.start()
            time.sleep(random.uniform(1, 3))
            server.send_signal(signal.SIGKILL)
            stopped.set()
            for thread in threads:
                thread.join()
            server.wait()
        server, address = start(program, store)
        listed = json.load(request(address, "GET", "/v1/runs?limit=1000"))["data"]
        server.terminate()
        server.wait()
    stored = {run["id"]: run["status"] for run in listed}
    lost = clients.known - set(stored)
    open_ended = {run for run in clients.ended if stored.get(run) != "done"}
    print(f"{kills} kills: {len(clients.known)} runs, {len(clients.ended)} replies whole, {len(lost)} runs "
          f"lost, {len(open_ended)} whole replies not stored as done, {len(clients.twice)} ids twice")
    return 1 if lost or open_ended or clients.twice or set(stored.values()) - {"done", "interrupted"} else 0


if __name__ == "__main__":
    sys.exit(main())
