#!/bin/sh
# make_venv.sh FOLDER [PYTHON]: makes a virtual environment in FOLDER, unless the one there already has
# the same Python. FOLDER/.python holds its version and is what make compares times with.
set -eu

folder=$1
here=$(dirname "$0")
python=$("$here/find_python.sh" "${2:-}")
version=$("$python" -c 'import platform; print(platform.python_version())')
if [ -f "$folder/.python" ] && [ "$(cat "$folder/.python")" = "$version" ]; then
    exit 0
fi
rm -rf "$folder"
"$here/install_step.sh" "making $folder with Python $version ($python)" "$python" -m venv "$folder"
echo "$version" >"$folder/.python"
