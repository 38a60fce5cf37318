#!/bin/sh
# Prints the Python that makes .venv: the one given as the first argument (make PYTHON=...), else the first of
# python3, python3.11 and python3.12 that is a 3.11 or 3.12, for TensorFlow 2.19 has no build for newer ones. A name on PATH proves nothing (a
# version manager's shim may be there and refuse to run), so each candidate is run. Otherwise one
# sentence with the remedy goes to standard error, and the exit status is 1.
set -eu

version_of() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null || true
}

refuse() {
    echo "$1" >&2
    exit 1
}

asked=${1:-}
found=
for candidate in ${asked:-python3 python3.11 python3.12}; do
    version=$(version_of "$candidate")
    case $version in
        3.11.* | 3.12.*) python=$candidate; break ;;
        ?*) found="${found:+$found and }$version ($candidate)" ;;
    esac
done

if [ -z "${python:-}" ]; then
    if [ -n "$asked" ] && [ -z "$found" ]; then
        found="that $asked does not run"
    fi
    refuse "The lessons' TensorFlow needs Python 3.11 or 3.12; found ${found:-no Python that runs}: install python3.12 and run \`make PYTHON=python3.12\` with your target."
fi

machine=$("$python" -c 'import platform; print(platform.system(), platform.machine())')
case $machine in
    "Darwin x86_64")
        refuse "TensorFlow 2.19 has no build for an Intel Python on a Mac; found $version ($python) for x86_64: on Apple silicon install an arm64 Python and run \`make PYTHON=/path/to/it\`; an Intel Mac is not supported." ;;
esac

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    refuse "$python ($version) cannot make a virtual environment, for its ensurepip or venv module is missing: install it (on Debian, as root: apt-get install python3-venv) and run make again."
fi

echo "$python"
