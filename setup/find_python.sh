# Sourced by launch.sh when something has to be installed.
#
# `find_python` sets $python to an interpreter that can build the environment, or exits with a list of
# what was tried and the command to run. Every candidate is run to verify it: a version manager's shim may
# be on PATH without a Python behind it, and a Python may have been built without SQLite or TLS.

python_probe='
import sys
version = "%d.%d" % sys.version_info[:2]
if sys.version_info < (3, 11):
    print("old " + version)
    sys.exit()
import importlib, os
missing = []
for name in ["ctypes", "ensurepip", "sqlite3", "ssl", "venv", "zlib"]:
    try:
        importlib.import_module(name)
    except ImportError:
        missing.append(name)
if missing:
    print("incomplete " + version + " " + ", ".join(missing))
else:
    print("good " + version + " " + os.path.realpath(sys.executable))
'

find_python() {
    local -a candidates tried
    local candidate status version detail best incomplete incomplete_version
    list_python_candidates
    try_python_candidates
    if [[ -z $python && -n $incomplete ]] && complete_debian_python "$incomplete" "$incomplete_version"; then
        try_python_candidates
    fi
    [[ -z $python ]] || return 0
    explain_missing_python
    exit 1
}

list_python_candidates() {
    local version found
    local -A seen=()
    if [[ -n ${MOSAIC_PYTHON-} ]]; then
        candidates=("$MOSAIC_PYTHON")
        return
    fi
    candidates=()
    while IFS= read -r found; do
        [[ -n $found && -z ${seen[$found]-} ]] || continue
        seen[$found]=1
        candidates+=("$found")
    done < <(
        for version in 3.11 3.12 3.13 3.14; do
            type -aP "python$version"
            compgen -G "${PYENV_ROOT:-${HOME-}/.pyenv}/versions/$version*/bin/python$version"
            compgen -G "/usr/bin/python$version"
            compgen -G "/usr/local/bin/python$version"
        done
        type -aP python3
    )
}

# The oldest supported version wins, because the pins are compiled on it.
try_python_candidates() {
    python='' incomplete='' tried=() best=''
    for candidate in ${candidates[@]+"${candidates[@]}"}; do
        read -r status version detail < <("$candidate" -E -s -c "$python_probe" 2>/dev/null </dev/null) || status=dead
        case $status in
            good)
                if [[ -z $best || ${version#3.} -lt ${best#3.} ]]; then
                    best=$version python=$detail
                fi
                ;;
            old) tried+=("$candidate: is Python $version") ;;
            incomplete)
                tried+=("$candidate: Python $version without $detail")
                if [[ -z $incomplete ]]; then
                    incomplete=$candidate incomplete_version=$version
                fi
                ;;
            *) tried+=("$candidate: does not run") ;;
        esac
    done
}

is_system_python() {
    [[ $1 == /usr/bin/* || $1 == /bin/* ]]
}

# Debian and Ubuntu package venv and ensurepip separately. This installs them; Python itself is not changed.
complete_debian_python() {
    local package=python$2-venv
    is_system_python "$1" && [[ $EUID -eq 0 ]] && type -P apt-get >/dev/null || return
    echo "$1 lacks venv or ensurepip: installing $package with apt-get" >&2
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install -y --no-install-recommends "$package"; } >&2
}

explain_missing_python() {
    local line
    {
        echo "MOSAIC needs Python 3.11 or newer, and no working one was found."
        if [[ ${#tried[@]} -gt 0 ]]; then
            echo "Tried:"
            printf '  %s\n' "${tried[@]}"
        fi
        if [[ -n ${MOSAIC_PYTHON-} ]]; then
            echo "MOSAIC_PYTHON selects the Python: correct it, or unset it to search for one."
            return
        fi
        echo "Install one, then start again:"
        echo "  $(python_install_command)"
        echo "Or select another one: MOSAIC_PYTHON=/path/to/python3.11 $0"
    } >&2
}

python_install_command() {
    local version
    if [[ -n $incomplete ]] && is_system_python "$incomplete"; then
        echo "sudo apt-get install -y python$incomplete_version-venv"
        return
    fi
    if type -P apt-get apt-cache >/dev/null; then
        for version in 3.11 3.12 3.13 3.14; do
            if apt-cache show "python$version-venv" >/dev/null 2>&1; then
                echo "sudo apt-get install -y python$version python$version-venv"
                return
            fi
        done
    fi
    if type -P dnf >/dev/null; then
        echo "sudo dnf install -y python3.11"
    else
        echo "pyenv install 3.11"
    fi
}
