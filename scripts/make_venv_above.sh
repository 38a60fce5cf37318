#!/bin/sh
# make_venv_above.sh FOLDER BELOW: makes a virtual environment in FOLDER with the Python of the one in
# BELOW. It sees all packages of BELOW, and pip installs in it only what is not there, or not in that version.
set -eu

folder=$1
below=$2
"$(dirname "$0")/make_venv.sh" "$folder" "$below/bin/python"
# A line of a .pth file that begins with `import` is run at each start of Python. addsitedir also reads the
# .pth files of BELOW, one of which leads to this project.
"$below/bin/python" - "$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" <<'END'
import pathlib, sys, sysconfig

line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
pathlib.Path(sys.argv[1], "below.pth").write_text(line, encoding="utf-8")
END
# A kernel of its own: else Jupyter might take one of the user's, which runs another Python.
"$folder/bin/python" -m ipykernel install --sys-prefix >/dev/null
