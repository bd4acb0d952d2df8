"""A proxy that keeps every exchange with a server, as it came over the wire.

An exchange is {"method", "path", "request", "status", "type", "body", "cut"}: `request` is the JSON
that was sent, `body` the text that came back (an event stream as its raw text), `cut` whether the
client left before the end. Standard library only.
"""

import contextlib
import http.client
import http.server
import json
import threading
import urllib.parse


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = False  # its end waits for all exchanges: those of a client that has left too

    def handle_error(self, request, client_address):
        """Clients that leave are what is recorded here, no fault."""


class Recorder:
    """Exchanges in the order of their requests; `root` is the proxy's own URL.

    Paths in `hidden` are answered by 404, as by a gateway that lets only some through.
    """

    def __init__(self, upstream, hidden=()):
        self.hidden = hidden
        self.upstream = urllib.parse.urlsplit(upstream)
        self.exchanges = []
        self.lock = threading.Lock()
        self.server = QuietServer(("127.0.0.1", 0), self._handler())
        self.root = f"http://127.0.0.1:{self.server.server_address[1]}"

    def begin(self, exchange):
        with self.lock:
            self.exchanges.append(exchange)

    def _handler(self):
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                self.forward("GET", b"")

            def do_POST(self):
                self.forward("POST", self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def forward(self, method, body):
                exchange = {"method": method, "path": self.path,
                            "request": json.loads(body) if body else None}
                recorder.begin(exchange)
                if self.path in recorder.hidden:
                    exchange.update(status=404, type="application/json", body="{}", cut=False)
                    self.reply(404, "application/json", "Content-Length: 2", b"{}")
                    return
                there = http.client.HTTPConnection(recorder.upstream.hostname,
                                                   recorder.upstream.port)
                there.request(method, self.path, body or None, {"Content-Type": "application/json"})
                answer = there.getresponse()
                kind = answer.getheader("Content-Type", "")
                exchange.update(status=answer.status, type=kind, body="", cut=False)
                if "event-stream" not in kind:
                    whole = answer.read()
                    exchange["body"] = whole.decode()
                    if self.path == "/metrics":  # hundreds of lines, of which few are read
                        exchange["body"] = "".join(
                            line + "\n" for line in exchange["body"].splitlines()
                            if "prefix_cache" in line)
                    self.reply(answer.status, kind, f"Content-Length: {len(whole)}", whole)
                else:
                    self.reply(answer.status, kind, "Transfer-Encoding: chunked", b"")
                    self.stream(answer, there, exchange)
                there.close()

            def reply(self, status, kind, framing, body):
                name, value = framing.split(": ")
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def stream(self, answer, there, exchange):
                received = b""
                try:
                    while piece := answer.read1(65536):
                        received += piece
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                        self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
                except OSError:
                    exchange["cut"] = True
                    self.close_connection = True
                # What was cut may end inside an event: whole events only.
                end = len(received) if not exchange["cut"] else received.rfind(b"\n\n") + 2
                exchange["body"] = received[:end].decode()

        return Handler


@contextlib.contextmanager
def recording(upstream, hidden=()):
    recorder = Recorder(upstream, hidden)
    thread = threading.Thread(target=recorder.server.serve_forever)
    thread.start()
    try:
        yield recorder
    finally:
        recorder.server.shutdown()
        recorder.server.server_close()
        thread.join()
