# What tests of the whole program begin with: a scratch folder to work in, and TAP.  Read by tests/test_app*.sh.
set -u
program=$(realpath "${1:?usage: $0 PROGRAM}")
tests=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d -t undine.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
count=0 failures=0

# expect WHAT CONDITION...: the condition is a command.
expect()
{
    local what=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $what"
    else
        echo "not ok $count - $what: $*"
        failures=$((failures + 1))
    fi
}

# interrupt SIGNAL WORDS COMMAND...: sent the signal at the line that begins with WORDS; what it says is in log.
interrupt() { "$tests/interrupt" "$@"; }

# last_of CACHE: the last frame in its ledger.
last_of() { tail -n 1 "$1/ledger.csv" | cut -d, -f1; }

# begin COMMAND...: in the background, as $run; what it says is in log, which holds nothing of a run before it.
begin()
{
    : >log
    "$@" >log 2>&1 </dev/null &
    run=$!
}

# await CONDITION...: until it holds, however long that takes, or the program in the background, $run, has ended.
await()
{
    until "$@"; do
        kill -0 "$run" 2>/dev/null || return 1
        sleep 0.01
    done
}

# code EXPECTED COMMAND...: the command exits so; what it says is kept in said.
code()
{
    local expected=$1 got
    shift
    "$@" >said 2>&1 </dev/null
    got=$?
    [ $got = "$expected" ] && return 0
    echo "# exit code $got, expected $expected:"
    sed 's/^/# /' said
    return 1
}
