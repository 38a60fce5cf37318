#!/bin/sh
# find_other_python.sh VERSION: prints a Python of the version named (3.13) that is at hand and can make a virtual
# environment, or prints nothing and fails where there is none.
set -eu

for candidate in "python$1" "$HOME"/.pyenv/versions/"$1".*/bin/python; do
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$candidate"
        exit 0
    fi
done
exit 1
