#!/usr/bin/env python3
"""The document of an API as other people's tools take it.

    run.py install SOURCE FOLDER                     puts what package.json names into FOLDER
    run.py validate FOLDER VIOLET SHOWCASE EXAMPLE   the documents of both programs, from `violet openapi` and as served
    run.py viewer FOLDER SOURCES                     the viewer's modules
    run.py client FOLDER SHOWCASE                    a client made from the document talks to the running showcase
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from server_process import ServerProcess  # noqa: E402

SECONDS_MAX = 100
SHOWCASE_PLACE = re.compile(rb"http://127\.0\.0\.1:(\d+)/docs/openapi\.json")
EXAMPLE_PLACE = re.compile(rb"listening on http://127\.0\.0\.1:(\d+)")


def showcase(program):
    return ServerProcess([program, "--listen", "http://127.0.0.1:0", "--loops", "1"], SHOWCASE_PLACE)


def example(program):
    command = ["/bin/sh", "-c", 'exec "$0" "$@" 2>&1', program, "http://127.0.0.1:0"]
    return ServerProcess(command, EXAMPLE_PLACE)


def install(source, folder):
    """As the lock file has it; nothing is fetched where it is there already."""
    source, folder = pathlib.Path(source), pathlib.Path(folder)
    lock = source / "package-lock.json"
    done = folder / "installed.json"
    if not done.exists() or done.read_bytes() != lock.read_bytes():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(source / name, folder / name)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, check=True, timeout=SECONDS_MAX * 5)
        shutil.copy(lock, done)
    # The scripts stand beside what they import.
    for script in source.glob("*.mjs"):
        shutil.copy(script, folder / script.name)
    return 0


def node(folder, *arguments):
    return subprocess.run(["node", *arguments], cwd=folder, check=False, timeout=SECONDS_MAX).returncode


def served(server):
    with urllib.request.urlopen(f"http://127.0.0.1:{int(server.found[1])}/docs/openapi.json", timeout=20) as answer:
        return answer.read()


def validate(folder, violet, showcase_program, example_program):
    with tempfile.TemporaryDirectory() as place:
        files = []
        for program, start in ((showcase_program, showcase), (example_program, example)):
            file = pathlib.Path(place) / (pathlib.Path(program).name + ".json")
            subprocess.run([violet, "openapi", "-o", str(file), program], check=True, timeout=SECONDS_MAX)
            with start(program) as server:
                if served(server) + b"\n" != file.read_bytes():
                    sys.exit(f"{program} serves another document than `violet openapi` writes")
                server.stop()
            files.append(str(file))
        return node(folder, "validate.mjs", *files)


def client(folder, program):
    with showcase(program) as server:
        status = node(folder, "client.mjs", f"http://127.0.0.1:{int(server.found[1])}")
        return status or server.stop()


def viewer(folder, sources):
    with tempfile.TemporaryDirectory() as place:
        # Modules to node, too.
        shutil.copytree(sources, place, dirs_exist_ok=True)
        (pathlib.Path(place) / "package.json").write_text('{"type":"module"}')
        return node(folder, "viewer.mjs", place)


if __name__ == "__main__":
    sys.exit({"install": install, "validate": validate, "client": client, "viewer": viewer}[sys.argv[1]](*sys.argv[2:]))
