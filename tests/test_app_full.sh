#!/usr/bin/env bash
# tests/test_app_full.sh PROGRAM [LIMITS]: every kind of file, written where it finds no room, at LIMITS lengths
# (3) up to the last byte.  The program says which file and exits with 1; what stands under its own name is whole,
# and nothing else is left.  Prints TAP.
. "$(dirname "$0")/app.sh"
limits=${2:-3}

cat >dam.lua <<'SCENE'
scene { name = "dam", frames = 2, fps = 24 }
liquid.levelset { size = {1, 1, 1}, cells = 16, fill = box { max = {0.4, 0.6, 1} }, spray = true }
film { width = 96, height = 64, samples = 1 }
SCENE
cat >flat.lua <<'SCENE'
scene { name = "flat", frames = 2, fps = 24 }
liquid.cells { size = {1, 1}, cells = 16, level = 0.3 }
film { width = 96, height = 64, samples = 1 }
SCENE

# The program with files of at most so many KiB; a pipe keeps what it says, which is no such file.
limited()
{
    local kib=$1
    shift
    (ulimit -f "$kib" && exec "$program" "$@") 2>&1 </dev/null | cat >said
    return "${PIPESTATUS[0]}"
}

# what_is_there FOLDER: every file of it is whole, as the one of the unlimited run is.
what_is_there()
{
    local file
    while read -r file; do
        cmp -s "$1/$file" "whole/$file" || { echo "# $file of $1 is not whole" && return 1; }
    done < <(cd "$1" 2>/dev/null && find . -type f)
}

# names_what_is_missing FOLDER
names_what_is_missing()
{
    local file
    while read -r file; do
        [ -e "$1/$file" ] || ! grep -q "${file##*/}" said || return 0
    done < <(cd whole && find . -type f)
    sed 's/^/# /' said
    return 1
}

# writer NAME ENDING COMMAND...: the command writes into the folder that comes after it.
writer()
{
    local name=$1 ending=$2 largest kib i bad=0
    shift 2
    rm -rf whole
    expect "$name" code 0 "$program" "$@" whole
    largest=$(find whole -name "*.$ending" -printf '%s\n' | sort -n | tail -n 1)
    for ((i = 0; i < limits; i++)); do
        kib=$(((${largest:-1} - 1) * i / (limits > 1 ? limits - 1 : 1) / 1024))
        rm -rf full
        limited $kib "$@" full
        [ $? = 1 ] && names_what_is_missing full && what_is_there full || { bad=$((bad + 1)) && sed 's/^/# /' said; }
    done
    expect "$name: $limits full disks" test $bad = 0
}

"$program" sim dam.lua -o dam -q && "$program" sim flat.lua -o flat -q
writer VDB vdb export dam -q --vdb -o
writer PLY ply export dam -q --ply --spray -o
writer PNG png render dam -q --preview --stills 2 -o
writer EXR exr render dam -q --preview --exr -o
writer MP4 mp4 render dam -q --preview --movie -o
writer SVG svg render flat -q --preview --svg -o
writer PDF pdf render flat -q --preview --pdf -o

# A cache is whole up to some frame, and goes on when there is room.
bad=0 largest=$(find dam -name '*.h5' -printf '%s\n' | sort -n | tail -n 1)
for ((i = 0; i < limits; i++)); do
    rm -rf full
    limited $(((largest - 1) * i / (limits > 1 ? limits - 1 : 1) / 1024)) sim dam.lua -o full
    [ $? = 1 ] && grep -q 'undine: .*full/' said && [ -z "$(find full -name '*.tmp' 2>/dev/null)" ] &&
        if [ -e full/manifest.json ]; then
            code 0 "$program" sim dam.lua --resume -o full && code 0 "$program" verify full &&
                diff -r dam/frames full/frames
        fi || { bad=$((bad + 1)) && sed 's/^/# /' said; }
done
expect "HDF5, JSON and CSV: $limits full disks" test $bad = 0

echo "1..$count"
[ $failures = 0 ]
