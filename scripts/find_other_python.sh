#!/bin/sh
# find_other_python.sh VERSION: given the version of .venv's Python, prints one of the other supported
# version (3.12 beside 3.11, 3.11 beside 3.12), or prints nothing and fails where none is at hand.
set -eu

case $1 in
    3.11.*) other=3.12 ;;
    *) other=3.11 ;;
esac
for candidate in "python$other" "$HOME"/.pyenv/versions/"$other".*/bin/python; do
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$candidate"
        exit 0
    fi
done
exit 1
