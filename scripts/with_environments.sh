#!/bin/sh
# with_environments.sh FOLDER... -- COMMAND [ARGUMENT...]: has make build these virtual environments, runs the
# command, and removes them again: only .venv and .venv-frameworks are kept between runs.
set -eu

environments=
while [ "$1" != -- ]; do
    environments="$environments $1"
    shift
done
shift
trap 'rm -rf $environments' EXIT
for environment in $environments; do
    make --no-print-directory "$environment/.packages"
done
"$@"
