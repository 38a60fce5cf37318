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
# Without these, some shells end at a signal and leave what EXIT names undone.
trap 'exit 130' INT
trap 'exit 143' TERM
for environment in $environments; do
    make --no-print-directory "$environment/.packages"
done
"$@"
