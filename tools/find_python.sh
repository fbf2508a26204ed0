#!/bin/sh
# Print the path of a Python that really runs, of the first version given that can be found.
# usage: tools/find_python.sh 3.11 3.13
# A name on PATH may be a stub of a version manager that only prints an error: each candidate is tried.

works() {
    [ -x "$1" ] && [ "$("$1" -c 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$2" ]
}

for version in "$@"; do
    for candidate in \
        "$(command -v "python$version" 2>/dev/null)" \
        "$(command -v python3 2>/dev/null)" \
        "/usr/bin/python$version" "/usr/local/bin/python$version" "/opt/homebrew/bin/python$version" \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version"*/bin/python \
        "${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}/cpython-$version"*/bin/python
    do
        if [ -n "$candidate" ] && works "$candidate" "$version"; then
            # The interpreter itself, so that the environment does not depend on a stub.
            "$candidate" -c 'import sys; print(sys.executable)'
            exit 0
        fi
    done
done
echo "No working Python of version $* (with its modules venv and ensurepip; on Debian: python3-venv) was found." >&2
echo "Install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2
exit 1
