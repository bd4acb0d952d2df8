#!/usr/bin/env python3
"""Records a command in a terminal as an animated SVG, or as the picture of one moment.

Needs pyte (pip install pyte), which plays the terminal.

  scripts/record_terminal.py docs/images/live.svg -- build/hyper run --seed 1 "Start with 12, add 7."
  scripts/record_terminal.py --still frame.svg --at 2.5 -- build/hyper run "Start with 12, add 7."
"""

import argparse
import fcntl
import html
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

# Readable on the dark ground, and apart for the colour blind.
COLOURS = {"default": "#d0d0d0", "green": "#56b487", "red": "#e69f00", "cyan": "#56b4e9",
           "brown": "#f0e442", "blue": "#7fa8ff", "magenta": "#cc79a7", "black": "#808080",
           "white": "#ffffff"}
GROUND = "#16181d"
CELL = (8.4, 18)  # pixels of a character at 14 px
EDGE = 10
# pyte has one screen: what stood there before a program took it is gone.
LEAVE_SCREEN = b"\x1b[?1049l"
CLEAR = b"\x1b[2J\x1b[H"
NO_BREAK = "\u00a0"  # a space that no viewer collapses


def row_of(screen, y):
    """Runs of equal style in a row: (column, text, colour, bold, dim)."""
    runs = []
    for x in range(screen.columns):
        cell = screen.buffer[y][x]
        style = (COLOURS.get(cell.fg, COLOURS["default"]), cell.bold)
        if runs and runs[-1][2] == style:
            runs[-1][1] += cell.data
        else:
            runs.append([x, cell.data, style])
    return tuple((x + len(text) - len(text.lstrip()), text.strip(), style)
                 for x, text, style in runs if text.strip())


def frame_of(screen):
    return tuple(row_of(screen, y) for y in range(screen.lines))


def play(command, columns, rows, every):
    """Runs the command; its screen at each moment as [(seconds, frame)]."""
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    begin = time.monotonic()
    frames = []
    due = 0.0
    while True:
        ready, _, _ = select.select([terminal], [], [], every)
        try:
            data = os.read(terminal, 65536) if ready else b""
        except OSError:  # the command has ended
            break
        if ready and not data:
            break
        stream.feed(data.replace(LEAVE_SCREEN, CLEAR))
        now = time.monotonic() - begin
        if now >= due:
            frames.append((now, frame_of(screen)))
            due = now + every
    frames.append((time.monotonic() - begin, frame_of(screen)))
    os.waitpid(child, 0)
    return [frame for i, frame in enumerate(frames) if i == 0 or frame[1] != frames[i - 1][1]]


def text_of(frame):
    lines = []
    for y, row in enumerate(frame):
        for x, text, (colour, bold) in row:
            weight = ' font-weight="bold"' if bold else ""
            lines.append(f'<text x="{EDGE + x * CELL[0]:.1f}" y="{EDGE + (y + 0.75) * CELL[1]:.1f}" '
                         f'fill="{colour}"{weight} textLength="{len(text) * CELL[0]:.1f}">'
                         f'{html.escape(text.replace(" ", NO_BREAK))}</text>')
    return "\n".join(lines)


def svg(frames, columns, rows, hold):
    """The frames one after the other, the last one for `hold` seconds, in a loop."""
    width, height = columns * CELL[0] + 2 * EDGE, rows * CELL[1] + 2 * EDGE
    total = frames[-1][0] + hold
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
             f'viewBox="0 0 {width:.0f} {height:.0f}" font-size="14" '
             f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">',
             f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>']
    # Where nothing moves, such as in print, the fullest frame is shown.
    fullest = max(range(len(frames)), key=lambda i: sum(len(row) for row in frames[i][1]))
    for i, (begin, frame) in enumerate(frames):
        end = frames[i + 1][0] if i + 1 < len(frames) else total
        times = f"0;{begin / total:.4f};{end / total:.4f};1"
        parts.append("<g>" if len(frames) == 1 else
                     f'<g visibility="{"visible" if i == fullest else "hidden"}"><animate attributeName="visibility" '
                     f'values="hidden;visible;hidden;hidden" keyTimes="{times}" calcMode="discrete" '
                     f'dur="{total:.2f}s" repeatCount="indefinite"/>')
        parts.append(text_of(frame))
        parts.append("</g>")
    return "\n".join(parts) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", help="the SVG file")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--every", type=float, default=0.15, help="seconds between frames")
    parser.add_argument("--hold", type=float, default=2.5, help="seconds that the last frame stays")
    parser.add_argument("--still", action="store_true", help="one picture, of the moment --at")
    parser.add_argument("--at", type=float, help="seconds after the start [the end]")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    frames = play(args.command, args.columns, args.rows, args.every)
    if args.still:
        moment = args.at if args.at is not None else frames[-1][0]
        frames = [max((frame for frame in frames if frame[0] <= moment), default=frames[0],
                      key=lambda frame: frame[0])]
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(svg(frames, args.columns, args.rows, args.hold))
    print(f"{args.output}: {len(frames)} frames, {frames[-1][0]:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
