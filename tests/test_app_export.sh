#!/usr/bin/env bash
# tests/test_app_export.sh PROGRAM: a cache's frames as files for other programs.  Prints TAP.
. "$(dirname "$0")/app.sh"

same() { cmp -s "$1" "$2"; }
files() { find "$1" -type f 2>/dev/null | wc -l; }

cat >drop.lua <<'SCENE'
scene { name = "drop", frames = 4, fps = 24 }
liquid.cells {
  size = {0.8, 0.8, 0.8}, cells = 16, track = "markers", level = 0.25,
  fill = sphere { center = {0.4, 0.55, 0.4}, radius = 0.12 },
}
film { width = 96, height = 64, samples = 1 }
SCENE
cat >pond.lua <<'SCENE'
scene { name = "pond", frames = 2 }
liquid.waves { size = {2, 2}, cells = 16, ground = -1, level = 0 }
SCENE

cat >dam.lua <<'SCENE'
scene { name = "dam", frames = 3, fps = 24 }
liquid.levelset { size = {1, 1, 1}, cells = 16, fill = box { max = {0.4, 0.6, 1} } }
film { width = 96, height = 64, samples = 1 }
SCENE

# the mesh of a PLY file: closed, and what its header says
cat >read.py <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
end = data.index(b"end_header\n") + 11
head = data[:end].decode().split("\n")
count = {l.split()[1]: int(l.split()[2]) for l in head if l.startswith("element")}
floats = [l.split()[2] for l in head if l.startswith("property float")]
assert floats == "x y z nx ny nz vx vy vz".split(), floats
step, at = 4 * len(floats), end
assert len(data) == end + step * count["vertex"] + 13 * count["face"]
vertex = [struct.unpack_from("<9f", data, at + step * i) for i in range(count["vertex"])]
at += step * count["vertex"]
edges, volume = {}, 0
for i in range(count["face"]):
    n, a, b, c = struct.unpack_from("<Biii", data, at + 13 * i)
    assert n == 3
    p, q, r = vertex[a], vertex[b], vertex[c]
    volume += sum(p[k] * (q[(k + 1) % 3] * r[(k + 2) % 3] - q[(k + 2) % 3] * r[(k + 1) % 3]) for k in range(3)) / 6
    for e in ((a, b), (b, c), (c, a)):
        edges[e] = edges.get(e, 0) + 1
assert all(n == 1 and edges.get((b, a)) == 1 for (a, b), n in edges.items())
print("%d %.4f" % (count["face"], volume))
PYTHON
mesh() { python3 read.py "$1" >found; }
volume() { awk -v low="$1" -v high="$2" '{ exit !($2 > low && $2 < high) }' found; }

expect "a cache" code 0 "$program" sim drop.lua -o cache -q
expect "export" code 0 "$program" export cache
expect "a line for each frame" test "$(grep -cE '^export frame [0-9]+ of 4, ' said)" = 4
expect "says what was made" grep -qx 'ply    cache/ply/drop.\*.ply (4)' said
expect "the cache is still one" code 0 "$program" verify cache
expect "a closed mesh" mesh cache/ply/drop.0001.ply
expect "of the liquid's volume" volume 0.160 0.175
expect "only some frames, elsewhere" code 0 "$program" export cache --ply -s 2 -e 3 -o deep/er -q
expect "two files" test "$(files deep)" = 2
expect "the same bits" same cache/ply/drop.0002.ply deep/er/ply/drop.0002.ply
expect "with other threads" code 0 "$program" export cache -o threads -j 7 -q
expect "the same bits again" same cache/ply/drop.0004.ply threads/ply/drop.0004.ply
expect "z up" code 0 "$program" export cache --up z -s 1 -e 1 -o up -q
expect "says so" grep -aq '^comment undine .*, z up$' up/ply/drop.0001.ply
expect "the same volume" bash -c "python3 read.py up/ply/drop.0001.ply | cmp -s - found"
read -r all rest <found
expect "adaptive" code 0 "$program" export cache --adaptive 0.1 -s 1 -e 1 -o fewer -q
expect "still closed" mesh fewer/ply/drop.0001.ply
expect "the same volume, nearly" volume 0.160 0.175
read -r few rest <found
expect "fewer triangles" test "$few" -lt $((all / 2))
expect "in one command, beside the movie" code 0 "$program" run drop.lua --ply -e 2 -o whole
expect "says so too" grep -qx 'ply    whole/ply/drop.\*.ply (2)' said
expect "the same files" same cache/ply/drop.0002.ply whole/ply/drop.0002.ply
expect "and the movie" test -s whole/drop.mp4

# a level set
expect "run of a level set" code 0 "$program" run dam.lua --vdb --ply --spray -o dam
expect "leaves VDB beside the movie" grep -qx 'vdb    dam/vdb/dam.\*.vdb (3)' said
expect "and PLY" grep -qx 'ply    dam/ply/dam.\*.ply (3)' said
expect "and spray, also where there is none" grep -qx 'spray  dam/spray/dam.\*.ply (3)' said
expect "a dam is closed" mesh dam/ply/dam.0001.ply
expect "with its volume, within 0.5 %" volume 0.2388 0.2412
expect "export of all there is" code 0 "$program" export dam -o again -q -j 7
expect "is the same bytes" diff -r dam/vdb again/vdb
expect "of meshes too" diff -r dam/ply again/ply
expect "half" code 0 "$program" export dam --vdb --half -o half -q
expect "is smaller" test "$(stat -c %s half/vdb/dam.0003.vdb)" -lt "$(stat -c %s dam/vdb/dam.0003.vdb)"

# little room for threads: an error, not a crash (127: none even for the libraries); a sanitizer needs terabytes
if [ -z "${ASAN_OPTIONS-}" ]; then
    few=0
    for kib in 350000 360000 370000 380000 390000 400000; do
        (ulimit -v $kib && exec "$program" export dam --vdb -o few -q -j 4) >said 2>&1
        [[ $? =~ ^(0|1|127)$ ]] || few=$((few + 1))
    done
    expect "little address space" test $few = 0
fi

# what cannot be
expect "no level set in it" code 2 "$program" export cache --vdb -o wrong
expect "is said" grep -q 'frames of this liquid.cells hold no distance of the liquid for --vdb' said
expect "waves" code 0 "$program" sim pond.lua -o pond -q
expect "hold nothing to export" code 2 "$program" export pond -o wrong
expect "says what was looked for" grep -q 'liquid.waves hold nothing to export: no distance, mesh or spray' said
expect "frames that are not there" code 2 "$program" export cache -e 9 -o wrong
expect "are named" grep -q 'cache has frames 1 to 4' said
expect "a wrong axis" code 2 "$program" export cache --up x -o wrong
expect "is explained" grep -q -- '--up wants y or z, not x' said
expect "a wrong number" code 2 "$program" export cache --adaptive much -o wrong
expect "is explained too" grep -q -- '--adaptive wants a number from 0 to 10, not much' said
expect "none of these made a folder" test ! -e wrong
expect "no cache" code 2 "$program" export nowhere
: >flat
expect "a folder that cannot be" code 1 "$program" export cache -o flat/out
expect "help" bash -c "'$program' --help | grep -q 'undine export CACHE'"

echo "1..$count"
[ $failures = 0 ]
