#!/usr/bin/env bash
# tests/test_app_cache.sh PROGRAM: a cache is whole by itself: it is drawn anywhere, opens nothing outside, knows the
# files that it was made with, and makes again what was lost.  Prints TAP.
. "$(dirname "$0")/app.sh"

hashes() { "$program" info "$1" --json | grep -E '"(hash|file_hash|state_hash)"' | md5sum; }

# box FILE SIZE: a closed mesh.
box()
{
    local s=$2
    {
        for v in "0 0 0" "$s 0 0" "$s $s 0" "0 $s 0" "0 0 $s" "$s 0 $s" "$s $s $s" "0 $s $s"; do echo "v $v"; done
        for f in "4 3 2 1" "5 6 7 8" "1 2 6 5" "2 3 7 6" "3 4 8 7" "4 1 5 8"; do echo "f $f"; done
    } >"$1"
}

mkdir -p made/meshes
box made/meshes/block.obj 0.3
box made/raft.obj 0.1
cat >made/block.lua <<'SCENE'
scene { name = "block", frames = 8, fps = 24 }
liquid.cells { size = {1, 0.6, 1}, cells = {10, 6, 10}, fill = box { max = {1, 0.2, 1} }, keep_flow = true,
  solids = { mesh { file = "meshes/block.obj", center = {0.4, 0, 0.4} } } }
ground { map = "meshes/grey.png" }
film { width = 32, height = 18 }
SCENE
cat >made/raft.lua <<'SCENE'
bodies { { shape = mesh { file = "raft.obj" }, density = 300, at = {0.2, 0.25, 0.7} } }
SCENE
# a grey picture of 2 x 2 pixels
base64 -d >made/meshes/grey.png <<'PNG'
iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR4nGNoaGBoaAAABgYCASzBUNcAAAAASUVORK5CYII=
PNG

expect "a scene with files" code 0 "$program" sim made/block.lua -o made/out -e 4 -q
expect "and a raft in its flow" code 0 "$program" float made/out made/raft.lua -o made/raft -q
expect "and a branch" code 0 "$program" sim made/block.lua --from made/out@2 -e 4 -o made/branch -q

# moved, and the scene's files gone
mkdir -p elsewhere/far
cp -r made kept
mv made/out made/raft made/branch elsewhere/far/
rm -r made
cd elsewhere || exit 1
for cache in out raft branch; do
    expect "verify $cache" code 0 "$program" verify far/$cache
    expect "info $cache" code 0 "$program" info far/$cache
    expect "render $cache" code 0 "$program" render far/$cache --quality preview -s 4 -e 4 -q -o drawn-$cache
    expect "export $cache" code 0 "$program" export far/$cache --ply -e 1 -q -o given-$cache
done
expect "float in a moved flow" code 0 "$program" float far/out ../kept/raft.lua -o far/again -q
expect "branch off a moved cache" code 0 "$program" sim ../kept/block.lua --from far/out@3 -e 4 -o far/twig -q

cd .. || exit 1

# the same scene with another mesh is another scene
cd kept || exit 1
"$program" sim block.lua -o whole -q
box meshes/block.obj 0.2
expect "resumed with another mesh" code 2 "$program" sim block.lua -o out --resume -q
expect "says which" grep -q 'meshes/block.obj has changed since out was made' said
expect "and that the cache has it as it was" grep -q '(out/files/[0-9a-f]*.obj is a copy)' said
cp out/files/*.obj meshes/block.obj
expect "resumed with the copy" code 0 "$program" sim block.lua -o out --resume -q
expect "it has the same bits" test "$(hashes out)" = "$(hashes whole)"
box meshes/block.obj 0.2
expect "--force begins anew" code 0 "$program" sim block.lua -o out --force -q
expect "with the new mesh" test "$(hashes out)" != "$(hashes whole)"
cp whole/files/*.obj meshes/block.obj

# frames that are lost are made again
"$program" sim block.lua -o lost --checkpoint 2 --keep 0 -q
rm lost/frames/block.0006.h5
expect "verify without a frame" code 1 "$program" verify lost
expect "resumed without a frame" code 0 "$program" sim block.lua -o lost --resume
expect "it says which, and from where it goes on" grep -q 'frame 6 is missing: it and those after frame 5 are made again' said
expect "the cache is whole" code 0 "$program" verify lost
expect "with the same bits" test "$(hashes lost)" = "$(hashes whole)"

rm lost/files/*.obj
expect "resumed without a copy" code 0 "$program" sim block.lua -o lost --resume -q
expect "it is there again" code 0 "$program" verify lost
"$program" sim block.lua -o early --keep 1 -q
rm early/frames/block.0002.h5
expect "resumed without any checkpoint before" code 0 "$program" sim block.lua -o early --resume -q
expect "all of it is made again" test "$(hashes early)" = "$(hashes whole)"

# the ledger is made of what the frames say
rm lost/ledger.csv
expect "info without a ledger" code 0 "$program" info lost
expect "verify without a ledger" code 1 "$program" verify lost
expect "says so" grep -q 'ledger.csv is missing' said
expect "resumed without a ledger" code 0 "$program" sim block.lua -o lost --resume -q
expect "the ledger is as it was" cmp lost/ledger.csv whole/ledger.csv
expect "a cache with its ledger again" code 0 "$program" verify lost

# grids that are whole are left alone, but not where a file has changed or a frame is lost
cat >two.lua <<'SCENE'
scene { name = "two", frames = 2, fps = 24 }
liquid.levelset { name = "near", size = {1, 0.6, 0.6}, cells = {10, 6, 6}, fill = box { max = {0.5, 0.3, 0.6} },
  open = "right", solids = { mesh { file = "meshes/block.obj", center = {0.4, 0, 0.2} } } }
liquid.levelset { name = "far", origin = {0.7, 0, 0}, size = {1, 0.6, 0.6}, cells = {10, 6, 6}, from = { "near" } }
SCENE
expect "two grids" code 0 "$program" sim two.lua -o two -q
cp two/near/frames/near.0002.h5 near.h5
rm two/near/frames/near.0002.h5
expect "two grids without a frame" code 0 "$program" sim two.lua -o two --resume -q
expect "it is made again" cmp near.h5 two/near/frames/near.0002.h5
box meshes/block.obj 0.2
expect "two grids with another mesh" code 2 "$program" sim two.lua -o two --resume -q
expect "which is said" grep -q 'meshes/block.obj has changed since two/near was made' said

echo "1..$count"
[ $failures = 0 ]
