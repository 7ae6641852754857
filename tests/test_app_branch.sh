#!/usr/bin/env bash
# tests/test_app_branch.sh PROGRAM: runs that begin with the frames of another.  Prints TAP.
. "$(dirname "$0")/app.sh"

sums() { find "$1" -type f -exec cksum {} + | sort; }
same() { cmp -s "$1" "$2"; }
# rows A B: the frames of A are in B, with the same states, whatever the times in the manifest.
rows() { head -n "$(wc -l <"$1/ledger.csv")" "$2/ledger.csv" | cmp -s - "$1/ledger.csv"; }

cat >tank.lua <<'SCENE'
scene { name = "tank", frames = 12, fps = 24 }
liquid.levelset {
  size = {1, 0.5}, cells = {param("cells", 32), param("cells", 32) / 2}, origin = {param("left", 0), 0},
  fill = box { min = {0, 0, -1}, max = {0.4, 0.4, 1} },
  solids = { sphere { center = {0.7, 0.1, 0}, radius = 0.08 } },
}
film { width = 96, height = 64, samples = 1 }
SCENE
# the same liquid, with a wind from frame 7 on, another solid and honey's viscosity
sed 's/name = "tank"/name = "blown"/
s/^  solids.*/  solids = { sphere { center = {0.7, 0.1, 0}, radius = 0.08 }, box { min = {0.9, 0, -1}, max = {0.95, 0.1, 1} } },\
  viscosity = 0.002, forces = { { acceleration = {-5, 3, 0} } },/' tank.lua >blown.lua

expect "a run" code 0 "$program" sim tank.lua -o tank --checkpoint 3 -q
sums tank >before
expect "a branch" code 0 "$program" sim blown.lua --from tank@6 -o deep/blown
expect "says what is made" grep -qx 'cache  deep/blown (frames 1 to 12)' said
expect "has to simulate up to a frame whose state is gone" \
    grep -qx 'no state of tank is kept at frame 6: simulating its scene from frame 1' said
sums tank >after
expect "not a byte of the first has changed" same before after
expect "six frames of its own" test "$(find deep/blown/frames -name 'blown.*.h5' | wc -l)" = 6
expect "the first rows are the other's" bash -c 'diff <(head -7 tank/ledger.csv) <(head -7 deep/blown/ledger.csv)'
expect "the next is not" bash -c '! diff <(sed -n 8p tank/ledger.csv) <(sed -n 8p deep/blown/ledger.csv) >/dev/null'
expect "no checkpoint needed where one is kept" code 0 "$program" sim blown.lua --from tank@10 -o late
expect "says nothing of it" bash -c '! grep -q "no state" said'
expect "from a state before it" code 0 "$program" sim tank.lua --from tank@11 -o tail
expect "says where from" grep -q 'kept at frame 11: simulating its scene from frame 10' said

# the same scene goes on with the same bits
expect "the same scene" code 0 "$program" sim tank.lua --from tank@6 -o same -q
expect "gives the frames that going on gave" rows tank same
expect "which is verified" code 0 "$program" verify same
expect "counts the files of both" grep -qE 'same: [0-9]+ files, all as they were written' said
expect "with all states kept" code 0 "$program" sim tank.lua -o all --checkpoint 2 --keep 0 -q
expect "there are six" test "$(find all/checkpoints -name 'tank.*.h5' | wc -l)" = 6
expect "and one thread" code 0 "$program" sim blown.lua --from all@6 -o one -j 1 -q
expect "a branch has the same bits from either" rows deep/blown one

# a solid that appears in the liquid presses out as much as it has come over: 0.00141 m3
sed 's/^  solids.*/  solids = { sphere { center = {0.18, 0.18, 0}, radius = 0.12 } },/; s/"tank"/"stone"/' tank.lua >stone.lua
expect "a solid that appears" code 0 "$program" sim stone.lua --from tank@1 -o stone -q
expect "tells what it has pressed" bash -c \
    '"$1" info stone | awk "/squeezed/ { for (i = 1; i <= NF; i++) if (\$i + 0 > 0.00134 && \$i + 0 < 0.00149) found = 1 } END { exit !found }"' _ "$program"

# edges of water that a branch opens
cat >pond.lua <<'SCENE'
scene { name = "pond", frames = 6, fps = 24 }
liquid.waves { size = {2, 2}, cells = 16, ground = -0.3, level = 0,
  drops = { { center = {1, 1}, radius = 0.3, height = 0.05 } } }
SCENE
sed 's/"pond"/"open"/; s/level = 0,/level = 0, edges = { left = "open", front = "open" },/' pond.lua >open.lua
expect "a pond" code 0 "$program" sim pond.lua -o pond -q
expect "with an edge opened" code 0 "$program" sim open.lua --from pond@3 -o open -q
expect "lets water out" bash -c '! diff <(tail -1 pond/ledger.csv) <(tail -1 open/ledger.csv) >/dev/null'

# it is a cache as any
expect "verify" code 0 "$program" verify deep/blown
expect "info" code 0 "$program" info deep/blown
expect "names the other" grep -qx 'branch     of ../../tank, whose frames up to 6 are its first' said
expect "info --json" bash -c "'$program' info deep/blown --json | python3 -c '
import json, sys
info = json.load(sys.stdin)
assert info[\"branch\"] == {\"path\": \"../../tank\", \"frame\": 6} and len(info[\"frames\"]) == 12'"
expect "render" code 0 "$program" render deep/blown --preview --png -o drawn -q
expect "of all frames" test "$(find drawn -name '*.png' | wc -l)" = 12
expect "export" code 0 "$program" export deep/blown --vdb -o out_there -q
expect "of all frames" test "$(find out_there -name '*.vdb' | wc -l)" = 12
expect "run makes the movie from the first frame on" code 0 "$program" run blown.lua --from tank@9 -o film -q
expect "with stills before the branch" test -s film/stills/blown.0001.png

# a branch of a branch
sed 's/name = "blown"/name = "third"/; s/{-5, 3, 0}/{5, 0, 0}/' blown.lua >third.lua
expect "a branch of a branch" code 0 "$program" sim third.lua --from deep/blown@9 -o third -q
expect "verify" code 0 "$program" verify third
expect "reads through both" code 0 "$program" export third --vdb -o third -q
expect "a branch before the branch" code 0 "$program" sim third.lua --from deep/blown@4 -o fourth -q
expect "is of the first" code 0 "$program" verify fourth

# killed and resumed
sed 's/frames = 12/frames = 100000/' blown.lua >long.lua
interrupt KILL "sim frame 15 " "$program" sim long.lua --from tank@9 -o killed --checkpoint 4
expect "a killed branch is whole" code 0 "$program" verify killed
interrupt INT "sim frame 10 " "$program" sim long.lua --from tank@9 -o stopped
expect "a stopped branch exits with 130" test $? = 130
expect "its cache is whole" code 0 "$program" verify stopped
expect "says how to go on" grep -q -- '--from tank@9 -o stopped --resume' log
last=$(($(last_of killed) + $(last_of stopped) + 3))
expect "killed, then resumed" code 0 "$program" sim long.lua --from tank@9 -o killed --resume -e $last -q
expect "stopped, then resumed, without --from too" code 0 "$program" sim long.lua -o stopped --resume -e $last -q
"$program" sim long.lua --from tank@9 -o whole -e $last -q
expect "gives the same bits" rows whole killed
expect "and the same again" rows whole stopped
expect "another branch is not resumed" code 2 "$program" sim long.lua --from tank@8 -o stopped --resume
expect "is explained" grep -q 'stopped is no branch after frame 8' said

# the other has gone, or is another
mv tank gone
expect "the other is gone: verify" code 1 "$program" verify deep/blown
expect "says so once" test "$(grep -c 'that it branches off is not there' said)" -le 2
expect "the other is gone: render" code 1 "$program" render deep/blown --preview --png -o nothing
expect "says so too" grep -q 'the cache that it branches off is not there' said
mv gone tank
mkdir -p moved/deep
cp -r tank moved/tank
cp -r deep/blown moved/deep/blown
expect "both moved together" code 0 "$program" verify moved/deep/blown
sed 's/0.4, 0.4, 1/0.3, 0.4, 1/' tank.lua >other.lua
expect "another run in its place" code 0 "$program" sim other.lua -o moved/tank --force -q
expect "verify" code 1 "$program" verify moved/deep/blown
expect "says that it has changed" grep -q 'which it begins with, have changed since: branch again' said
cp -r tank/frames/tank.0003.h5 kept.h5
printf x >>tank/frames/tank.0003.h5
expect "a shared frame that was touched" code 1 "$program" verify deep/blown
expect "is named" grep -q 'frame 3: frames/tank.0003.h5 has changed' said
cp kept.h5 tank/frames/tank.0003.h5

# wrong input
expect "into the other's folder" code 2 "$program" sim tank.lua --from tank@6 -o tank --force
expect "is explained" grep -q 'a branch needs another folder' said
expect "into that of the other's other" code 2 "$program" sim third.lua --from third@12 -o tank --force
expect "no frame" code 2 "$program" sim blown.lua --from tank -o wrong
expect "is explained" grep -q 'wants CACHE@FRAME' said
expect "a frame that is not there" code 2 "$program" sim blown.lua --from tank@13 -o wrong
expect "says which are" grep -q 'tank has frames 1 to 12, not 13' said
expect "other cells" code 2 "$program" sim blown.lua --from tank@6 -o wrong --set cells=48
expect "says what differs" grep -q 'has 48 x 24 x 1 cells, and what it is to go on from 32 x 16 x 1' said
expect "another origin" code 2 "$program" sim blown.lua --from tank@6 -o wrong --set left=0.1
expect "says what differs" grep -q 'has its origin at 0.1 m along x' said
sed 's/fps = 24/fps = 25/' blown.lua >slow.lua
expect "other frames per second" code 2 "$program" sim slow.lua --from tank@6 -o wrong
expect "says what differs" grep -q 'a branch keeps start and fps' said
cat >pond.lua <<'SCENE'
scene { name = "pond", frames = 12 }
liquid.waves { size = {2, 2}, cells = 16, ground = -1, level = 0 }
SCENE
expect "another model" code 2 "$program" sim pond.lua --from tank@6 -o wrong
expect "says what differs" grep -q 'tank was made with liquid.levelset, and pond.lua has liquid.waves' said
expect "a last frame before the branch" code 2 "$program" sim blown.lua --from tank@6 -e 5 -o wrong
expect "--start" code 2 "$program" sim blown.lua --from tank@6 -s 3 -o wrong
expect "a cache that is not there" code 2 "$program" sim blown.lua --from nowhere@6 -o wrong
expect "none of these made a folder" test ! -e wrong
sums tank >after
expect "and the first is as it was" same before after

echo "1..$count"
[ $failures = 0 ]
