#!/bin/sh
# The virtual environments that make builds:
#   environments.sh python [PYTHON]              prints the Python that makes .venv, or one sentence with the remedy
#   environments.sh other VERSION                prints a Python of this version (3.13, or 3.14t without a GIL), or fails
#   environments.sh create FOLDER [PYTHON]       makes an environment, unless the one there has the same Python
#   environments.sh above FOLDER BELOW           makes one that sees all packages of the environment BELOW
#   environments.sh with FOLDER... -- COMMAND    builds these for a command, and removes them after it
#   environments.sh announce-torch PYTHON [REQUIREMENT]
#                                                prints a warning where pip would download several GB
set -eu

here=$(dirname "$0")

version_of() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null || true
}

makes_environments() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

refuse() {
    echo "$1" >&2
    exit 1
}

# TensorFlow 2.19 has no build for a Python newer than 3.12. A name on PATH proves nothing (a version manager's shim
# may be there and refuse to run), so each candidate is run.
python() {
    asked=${1:-}
    python=
    found=
    for candidate in ${asked:-python3 python3.11 python3.12}; do
        version=$(version_of "$candidate")
        case $version in
            3.11.* | 3.12.*) python=$candidate; break ;;
            ?*) found="${found:+$found and }$version ($candidate)" ;;
        esac
    done
    if [ -z "$python" ]; then
        [ -z "$asked" ] || found=${found:-that $asked does not run}
        refuse "The lessons' TensorFlow needs Python 3.11 or 3.12; found ${found:-no Python that runs}: install python3.12 and run \`make PYTHON=python3.12\` with your target."
    fi
    case $("$python" -c 'import platform; print(platform.system(), platform.machine())') in
        "Darwin x86_64")
            refuse "TensorFlow 2.19 has no build for an Intel Python on a Mac; found $version ($python) for x86_64: on Apple silicon install an arm64 Python and run \`make PYTHON=/path/to/it\`; an Intel Mac is not supported."
            ;;
    esac
    makes_environments "$python" || refuse "$python ($version) cannot make a virtual environment, for its ensurepip or venv module is missing: install it (on Debian, as root: apt-get install python3-venv) and run make again."
    echo "$python"
}

other() {
    for candidate in "python$1" "$HOME"/.pyenv/versions/"${1%t}".*/bin/python; do
        free_threaded=
        case $("$candidate" -c 'import sys; print(sys.abiflags)' 2>/dev/null || true) in
            *t*) free_threaded=t ;;
        esac
        if [ "${1%t}$free_threaded" = "$1" ] && makes_environments "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    exit 1
}

create() {
    chosen=$(python "${2:-}")
    keep_or_make "$1" "$chosen"
}

# FOLDER/.python holds the version, and is what make compares times with.
keep_or_make() {
    folder=$1
    chosen=$2
    version=$(version_of "$chosen")
    if [ -f "$folder/.python" ] && [ "$(cat "$folder/.python")" = "$version" ]; then
        return
    fi
    rm -rf "$folder"
    "$here/step.sh" --quiet "making $folder with Python $version ($chosen)" "$chosen" -m venv "$folder"
    echo "$version" >"$folder/.python"
}

# pip then installs only what BELOW lacks, or has in another version.
above() {
    below=$2
    keep_or_make "$1" "$below/bin/python"
    packages='import sysconfig; print(sysconfig.get_path("purelib"))'
    # A line of a .pth file that begins with `import` is run at each start of Python. addsitedir also reads the .pth
    # files of BELOW, one of which leads to this project.
    echo "import site; site.addsitedir('$("$below/bin/python" -c "$packages")')" \
        >"$("$folder/bin/python" -c "$packages")/below.pth"
    # A kernel of its own: else Jupyter might take one of the user's, which runs another Python.
    "$folder/bin/python" -m ipykernel install --sys-prefix >/dev/null
}

with() {
    environments=
    while [ "$1" != -- ]; do
        environments="$environments $1"
        shift
    done
    shift
    trap 'rm -rf $environments' EXIT
    # Without these, some shells end at a signal and leave what EXIT names undone.
    trap 'exit 130' INT
    trap 'exit 143' TERM
    for environment in $environments; do
        make --no-print-directory "$environment/.packages"
    done
    "$@"
}

# On Linux pip takes a build of PyTorch for CPUs (2.13.0+cpu, 190 MB) where its configuration names a place that has
# one, else the build for CUDA. That one does not import without NVIDIA's libraries, so they cannot be left out.
announce_torch() {
    [ "$(uname -s)" = Linux ] || return 0
    requirement=${2:-$(sed -n 's/^\(torch==[^ ]*\).*/\1/p' "$here/../constraints/torch.txt")}
    version=${requirement#torch==}
    report=$("$1" -m pip install --disable-pip-version-check --dry-run --quiet --no-deps --only-binary :all: \
        --report - "$requirement")
    case $report in
        *'"nvidia-'* | *'"cuda-'*)
            echo "==> pip finds no build of PyTorch for CPUs, only $version for CUDA: several GB are downloaded now, with NVIDIA's libraries. To avoid that, stop here (Ctrl-C) and name a place that has one for CPUs in pip's configuration (PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL)."
            ;;
    esac
}

command=$1
shift
case $command in
    python | other | create | above | with) "$command" "$@" ;;
    announce-torch) announce_torch "$@" ;;
    *) refuse "environments.sh has no command $command; its first lines list them." ;;
esac
