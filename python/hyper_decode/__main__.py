"""The program `hyper` with methods in Python: python -m hyper_decode COMMAND --plugin my_method.py

`hyper --plugin my_method.py` runs this.
"""

from __future__ import annotations

import os
import runpy
import sys

from . import _native, bundled_model

_FLAG = "--plugin"
_EXIT_NO_INPUT = 66


def _take_plugins(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The files of --plugin that end in .py, and the other arguments."""
    files: list[str] = []
    others: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            others += [argument, *rest]
            break
        file = argument.partition("=")[2] if argument.startswith(_FLAG + "=") else None
        if argument == _FLAG:
            file = next(rest, "")
        if file is not None and file.endswith(".py"):
            files.append(file)
        elif file is not None:
            others += [_FLAG, file]
        else:
            others.append(argument)
    return files, others


def main() -> int:
    """Runs each plugin, which registers its methods, then the command."""
    files, arguments = _take_plugins(sys.argv[1:])
    for file in files:
        if not os.path.isfile(file):
            print(f"hyper: the plugin '{file}' does not exist", file=sys.stderr)
            return _EXIT_NO_INPUT
        # Modules beside the plugin, as for `python FILE`.
        sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
        runpy.run_path(file, run_name="hyper_plugin")
    os.environ.setdefault("HYPER_MODEL", bundled_model())
    sys.stdout.flush()
    return _native.run_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
