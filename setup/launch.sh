# Sourced by ./mosaic, ./test, setup/lock and benchmarks/run with $root set to the checkout's real path.
#
# `set_up PROFILE` returns with a finished environment in $venv, or exits with an error message.
# Profiles: base (./mosaic), dev (base and the checks, same environment), bench (a separate environment).
# If nothing changed, a start only uses bash built-ins: it compares the recorded inputs with the current ones.

set_up() {
    venv=$root/.venv
    [[ $1 != bench ]] || venv=$root/.venv-bench
    is_ready "$1" && return
    source "$root/setup/find_python.sh"
    find_python
    "$python" -E -s "$root/setup/install.py" --root "$root" --venv "$venv" --profile "$1" || exit
}

# The record holds, separated by NUL: the checkout, the Python, then name and content of every input.
# install.py writes it last and removes it before it changes anything.
is_ready() {
    local record=$venv/mosaic-$1.ready recorded now i
    [[ -x $venv/bin/python && -f $record ]] || return
    mapfile -d '' -t recorded <"$record"
    [[ ${recorded[0]-} == "$root" ]] || return
    [[ -z ${MOSAIC_PYTHON-} || $MOSAIC_PYTHON -ef ${recorded[1]-} ]] || return
    for ((i = 2; i < ${#recorded[@]}; i += 2)); do
        [[ -f $root/${recorded[i]} ]] || return
        mapfile -d '' -t now <"$root/${recorded[i]}"
        # `[` compares strings as they are; `[[` would read 50 kB as a pattern, ten times slower.
        [ "${now[0]-}" = "${recorded[i + 1]-}" ] || return
    done
}
