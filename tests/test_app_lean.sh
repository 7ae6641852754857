#!/usr/bin/env bash
# tests/test_app_lean.sh PROGRAM: the program built without what it can do without, which lies beside the whole one:
# each library that is missing takes its feature along, says so, and takes nothing else.  Prints TAP.
. "$(dirname "$0")/app.sh"
lean=$(dirname "$program")/undine_lean

cat >dam.lua <<'SCENE'
scene { name = "dam", frames = 2, fps = 24 }
liquid.levelset { size = {1, 1}, cells = 16, fill = box { max = {0.4, 0.6, 1} } }
film { width = 96, height = 64, samples = 1 }
SCENE
cat >ball.lua <<'SCENE'
scene { name = "ball", frames = 2 }
liquid.columns { size = {2, 2}, cells = 16, ground = -1, level = 0,
  bodies = { { shape = sphere { center = {1, 1, 1}, radius = 0.2 }, density = 500 } } }
SCENE
cat >voxels.lua <<'SCENE'
scene { name = "voxels", frames = 2 }
liquid.levelset { size = {1, 1, 1}, cells = 16, fill = volume { file = "no.vdb" } }
SCENE
: >no.vdb

hashes() { "$program" info --json "$1" | grep '"hash"'; }
says() { "${@:2}" >said 2>&1; [ $? = 1 ] && grep -q "$1" said; }

"$program" sim dam.lua -o whole -q
expect "it simulates" "$lean" sim dam.lua -o thin -q
expect "the same bits" test "$(hashes whole)" = "$(hashes thin)"
expect "pictures without a movie" "$lean" run dam.lua -o drawn -q
expect "a still is there" test -n "$(find drawn -name '*.png')"
"$lean" render thin --preview --overwrite >said 2>&1
expect "no movie, and why" grep -q 'movie *none: this build was made without libavcodec' said
expect "no EXR files, and why" says 'made without OpenEXR' "$lean" render thin --preview --exr --overwrite
expect "no VDB files, and why" says 'made without OpenVDB' "$lean" export thin
expect "meshes all the same" "$lean" export thin --ply -o meshes -q
expect "no bodies, and why" says 'made without the Open Dynamics Engine' "$lean" sim ball.lua -o ball
expect "no viewer, and why" says 'this build has no viewer' "$lean" view dam.lua
"$lean" sim voxels.lua -o voxels >said 2>&1
expect "no shapes from VDB files, and why" grep -q 'made without OpenVDB' said

echo "1..$count"
[ $failures = 0 ]
