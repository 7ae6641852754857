#!/usr/bin/env bash
# tests/test_app_float.sh PROGRAM: bodies put into a cached flow, from end to end.  Prints TAP.
. "$(dirname "$0")/app.sh"

sums() { find "$1" -type f -exec cksum {} + | sort; }
same() { cmp -s "$1" "$2"; }
same_frames() { diff -r "$1/frames" "$2/frames" >/dev/null && cmp -s "$1/static.h5" "$2/static.h5"; }

cat >flow.lua <<'SCENE'
scene { name = "flow", frames = 10, fps = 24 }
liquid.cells {
  size = {1.5, 0.6, 1}, cells = {15, 6, 10}, track = "height",
  level = function(x, z) return 0.3 + 0.1 * math.cos(2 * x) end,
  solids = { box { min = {0.7, 0, 0.4}, max = {0.9, 0.6, 0.6} } },
}
camera { eye = {0.7, 1.2, 2.4}, look = {0.7, 0.2, 0.5} }
film { width = 96, height = 64, samples = 1 }
SCENE
cat >cans.lua <<'SCENE'
bodies {
  { shape = cylinder { radius = 0.06, height = 0.15 }, density = param("density", 300), at = {0.3, 0.4, 0.3},
    turn = {90, 20, 0} },
  { shape = sphere { radius = 0.07 }, density = 600, at = {1.1, 0.3, 0.5} },
}
float { damping = 4, nodes = 12 }
SCENE
cat flow.lua cans.lua >both.lua

expect "a flow" code 0 "$program" sim flow.lua -o flow -q
expect "the same flow with bodies in it" code 0 "$program" sim both.lua -o both -q
sums flow >before
expect "float" code 0 "$program" float flow cans.lua -o deep/cans
expect "a line for each frame" test "$(grep -cE '^float frame [0-9]+ of 10, ' said)" = 10
expect "says what was made" grep -qx 'cache  deep/cans (frames 1 to 10, in the flow of flow)' said
sums flow >after
expect "not a byte of the flow has changed" same before after
expect "the new cache is smaller than the flow" test "$(du -s deep/cans | cut -f1)" -lt "$(du -s flow | cut -f1)"

# it is a cache as any
expect "verify" code 0 "$program" verify deep/cans
expect "checks the flow's files too" grep -q "deep/cans: $(($(grep -c . before) + 13)) files, all as they were written" said
expect "info" code 0 "$program" info deep/cans
expect "names the flow" grep -qx 'flow       ../../flow, with the bodies of cans.lua' said
expect "has what is the flow's" grep -q ' pressure ' said
expect "and what floats" grep -q ' bodies/position ' said
expect "info --json" bash -c "'$program' info deep/cans --json | python3 -c '
import json, sys
info = json.load(sys.stdin)
assert info[\"flow\"][\"path\"] == \"../../flow\" and len(info[\"frames\"]) == 10'"
expect "render" code 0 "$program" render deep/cans --preview --png -o added -q
expect "render of the run with bodies" code 0 "$program" render both --preview --png -o inside -q
expect "ten pictures" test "$(find added -name '*.png' | wc -l)" = 10
pictures() { local i; for i in 0001 0005 0010; do same added/stills/cans.$i.png inside/stills/flow.$i.png || return 1; done; }
expect "the same pictures, pixel for pixel" pictures

# the same bits: whatever was in the flow, at any number of threads
expect "float in the run that had bodies" code 0 "$program" float both cans.lua -o again -q
expect "they are replaced, not doubled: the same frames" same_frames deep/cans again
expect "float -j 7" code 0 "$program" float flow cans.lua -o threads -j 7 -q
expect "the same bits" same_frames deep/cans threads
expect "float in a cache that shares a flow" code 0 "$program" float deep/cans cans.lua -o shared -q
expect "takes that flow" bash -c "'$program' info shared | grep -qx 'flow       ../flow, with the bodies of cans.lua'"
expect "the same bits again" same_frames deep/cans shared
expect "--set" code 0 "$program" float flow cans.lua -o heavy --set density=2000 -q
expect "changes them" bash -c '! diff -r heavy/frames deep/cans/frames >/dev/null'
expect "a part of the flow" code 0 "$program" float flow cans.lua -o part -s 4 -e 7 -q
expect "four frames" test "$(find part/frames -name 'cans.*.h5' | wc -l)" = 4
expect "without -o" code 0 "$program" float flow cans.lua -q
expect "it goes to out/" test -s out/cans/manifest.json

# what is there already
expect "a second time is refused" code 2 "$program" float flow cans.lua -o deep/cans
expect "and says what to do" grep -q -- '--force' said
expect "unless forced" code 0 "$program" float flow cans.lua -o deep/cans --force -q
expect "into the flow itself" code 2 "$program" float flow cans.lua -o flow --force
expect "is explained" grep -q "flow is the flow's own cache" said
sums flow >after
expect "and leaves it alone" same before after

# a flow that has gone, and one begun anew
mv flow gone
expect "the flow is gone: verify" code 1 "$program" verify deep/cans
expect "says so" grep -q 'its flow is not there' said
expect "the flow is gone: render" code 1 "$program" render deep/cans --preview --png -o nothing
expect "says so too" grep -q 'its flow is not there' said
mv gone flow
expect "it is back" code 0 "$program" verify deep/cans
mkdir -p moved/deep
cp -r flow moved/flow
cp -r deep/cans moved/deep/cans
expect "both moved together" code 0 "$program" verify moved/deep/cans
sed 's/cos(2/sin(2/' flow.lua >other.lua
expect "another flow in its place" code 0 "$program" sim other.lua -o moved/flow --force -q
expect "verify" code 1 "$program" verify moved/deep/cans
expect "says that it has changed" grep -q 'has changed since undine float read it: run that again' said

# stopped: what is there is whole
"$program" sim flow.lua -e 150 -o long -q
interrupt INT "float frame 5 " "$program" float long cans.lua -o stopped
expect "a stopped float exits with 130" test $? = 130
expect "says how to begin again" grep -q -- '--force begins again' log
expect "its cache is whole" code 0 "$program" verify stopped
expect "which says what is not there" grep -q 'to 150 are not there yet: undine float --force makes them' said

# wrong input
expect "no bodies" code 2 "$program" float flow flow.lua -o wrong
expect "is explained" grep -q 'no bodies: expected bodies {' said
sed 's/radius = 0.06/radios = 0.06/' cans.lua >wrong.lua
expect "a wrong body" code 2 "$program" float flow wrong.lua -o wrong
expect "names file and line" grep -q 'wrong.lua:2: ' said
expect "a flow that is not there" code 2 "$program" float nowhere cans.lua -o wrong
expect "frames that are not there" code 2 "$program" float flow cans.lua -o wrong -e 50
expect "are named" grep -q 'flow has frames 1 to 10' said
expect "one word" code 2 "$program" float flow
expect "three words" code 2 "$program" float flow cans.lua cans.lua
sed 's/track = "height"/track = "height", keep_flow = false/' flow.lua >lost.lua
"$program" sim lost.lua -o lost -e 2 -q
expect "a flow that was not kept" code 2 "$program" float lost cans.lua -o wrong
expect "says what is missing" grep -q 'has no "pressure"' said
cat >pond.lua <<'SCENE'
scene { name = "pond", frames = 2 }
liquid.waves { size = {2, 2}, cells = 16, ground = -1, level = 0 }
SCENE
"$program" sim pond.lua -o pond -q
expect "another model" code 2 "$program" float pond cans.lua -o wrong
expect "is explained" grep -q 'was made with liquid.waves: bodies are put into the flow of liquid.cells' said
expect "none of these made a folder" test ! -e wrong
# check
sed 's/at = {1.1, 0.3, 0.5}/at = {0.8, 0.3, 0.5}/; s/density = param("density", 300)/density = 2000/' both.lua >crowded.lua
expect "check of bodies in cells" code 0 "$program" check crowded.lua
expect "counts them" grep -q '^bodies     2 free, 0 led or held' said
expect "one sinks" grep -q '^body 1     sinks: 2000 kg/m3 in a liquid of 1000' said
expect "one floats" grep -q '^body 2     floats: 600 kg/m3 in a liquid of 1000, 40 % of it above' said
expect "in something solid" grep -q '^warning    body 2 begins with its middle in what is solid' said
expect "help" bash -c "'$program' --help | grep -q 'undine float CACHE BODIES'"
expect "float --help" code 0 "$program" float --help

echo "1..$count"
[ $failures = 0 ]
