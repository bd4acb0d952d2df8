#!/usr/bin/env python3
"""Tests recorder.py. Standard library only."""

import http.client
import http.server
import threading
import unittest

import recorder

EVENTS = (b"data: one\n\n", b"data: two\n\n")


class Upstream(http.server.ThreadingHTTPServer):
    """Streams two events, the second one when `more` is set."""

    def __init__(self):
        self.more = threading.Event()
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever).start()

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(EVENTS[0])
            self.server.more.wait()
            self.wfile.write(EVENTS[1])


class RecorderTest(unittest.TestCase):
    def setUp(self):
        self.upstream = Upstream()
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)
        self.addCleanup(self.upstream.more.set)

    def test_keeps_a_stream_that_a_client_left(self):
        root = "http://127.0.0.1:%d" % self.upstream.server_address[1]
        with recorder.recording(root) as proxy:
            client = http.client.HTTPConnection(*proxy.server.server_address)
            client.request("POST", "/v1/completions", b'{"seed": 1}')
            self.assertEqual(client.getresponse().read1(), EVENTS[0])
            client.close()
            # The proxy is in the middle of the stream when the recording ends.
            threading.Timer(0.2, self.upstream.more.set).start()
        [exchange] = proxy.exchanges
        self.assertEqual(exchange["request"], {"seed": 1})
        self.assertEqual(exchange["status"], 200)
        self.assertEqual(exchange["body"].encode(), b"".join(EVENTS))


if __name__ == "__main__":
    unittest.main()
