#!/usr/bin/env python3
"""check.py EXPECTED COMMAND...: compiles and expects one error, which contains EXPECTED; none when EXPECTED is empty."""

import subprocess
import sys


def main():
    expected, command = sys.argv[1], sys.argv[2:]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in result.stderr.splitlines() if " error: " in line]
    if expected == "":
        good = result.returncode == 0 and not errors
    else:
        good = result.returncode != 0 and len(errors) == 1 and expected in errors[0]
    if not good:
        print(f"expected {'one error with ' + repr(expected) if expected else 'no error'}, got {len(errors)}:")
        print("\n".join(errors) or result.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
