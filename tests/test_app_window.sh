#!/usr/bin/env bash
# A large domain has a window by itself: its caches have the hashes of the whole grid's, also of a run that goes on, and can be
# looked through, exported and drawn as its grid changes.  And a domain that ends nowhere.
# usage: tests/test_app_window.sh PROGRAM
. "$(dirname "$0")/app.sh"

cat >box.lua <<'SCENE'
local window
if param("whole", 0) == 1 then window = false end
scene { name = "box", frames = 8 }
liquid.levelset {
  size = {4, 4}, cells = 512, window = window,
  fill = sphere { center = {1.5, 0.5, 0}, radius = 0.2 },
  solids = { box { min = {1.2, 0, -1}, max = {1.5, 0.15, 1} } },
}
SCENE
cat >far.lua <<'SCENE'
local window
if param("whole", 0) == 1 then window = false end
scene { name = "far", frames = 6 }
liquid.levelset {
  size = {5, 5}, cells = 640, window = window,
  fill = union { sphere { center = {0.4, 0.4, 0}, radius = 0.2 }, sphere { center = {4.6, 4.6, 0}, radius = 0.2 } },
}
SCENE
cat >ends_nowhere.lua <<'SCENE'
scene { name = "ends_nowhere", frames = 6 }
liquid.levelset {
  size = {"open", "open"}, cell = 0.02,
  fill = sphere { center = {0, 0.4, 0}, radius = 0.2 },
  solids = { box { min = {-0.2, 0, -1}, max = {0.3, 0.1, 1} } },
}
SCENE

hashes()
{
    cut -d, -f1,13 "$1/ledger.csv"
}
same_hashes()
{
    cmp <(hashes "$1") <(hashes "$2") || { diff <(hashes "$1") <(hashes "$2") | sed 's/^/# /'; return 1; }
}
goes_on()
{
    code 0 "$program" sim box.lua -j 2 -e 4 -o part && code 0 "$program" sim box.lua -j 1 --resume -o part &&
        same_hashes whole part
}
far_goes_on()
{
    code 0 "$program" sim far.lua -j 2 -e 3 -o far_part && code 0 "$program" sim far.lua -j 1 --resume -o far_part &&
        same_hashes far_whole far_part
}
# Of the frames that are the same all is: what was not written reads as if it had been.
same_pictures()
{
    code 0 "$program" render far_part -j 1 --size 64x64 --preview && code 0 "$program" export far_part --ply -o far_part_ply &&
        code 0 "$program" export far_whole --ply -o far_whole_ply || return 1
    diff -r far_whole_ply/ply far_part_ply/ply
}
smaller()
{
    [ "$(du -bs part/frames | cut -f1)" -lt "$(du -bs whole/frames | cut -f1)" ]
}

expect "the whole grid" code 0 "$program" sim box.lua -j 1 --set whole=1 -o whole
expect "a window by itself" code 0 "$program" sim box.lua -j 1 -o window
expect "the same hashes" same_hashes whole window
expect "and when it goes on" goes_on
expect "what it wrote is less" smaller
expect "and as it was written" code 0 "$program" verify part
expect "frames of several windows are drawn" code 0 "$program" render part -j 1 --size 64x64
expect "liquid far apart, the whole grid" code 0 "$program" sim far.lua -j 1 --set whole=1 -o far_whole
expect "has the same hashes, and when it goes on" far_goes_on
expect "and is whole" code 0 "$program" verify far_part
expect "and its meshes are the same" same_pictures
expect "a domain that ends nowhere" code 0 "$program" sim ends_nowhere.lua -j 1 -o nowhere
expect "and is whole" code 0 "$program" verify nowhere

echo "1..$count"
[ $failures = 0 ]
