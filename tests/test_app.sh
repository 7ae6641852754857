#!/usr/bin/env bash
# tests/test_app.sh PROGRAM: the program from end to end, with a tiny scene in a scratch folder.  Prints TAP.
. "$(dirname "$0")/app.sh"

# How many pictures an MP4 file has: the count in its stsz box.
samples() { python3 -c '
import sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"stsz") + 12
print(int.from_bytes(data[at:at + 4], "big"))' "$1"; }
same() { cmp -s "$1" "$2"; }
hashes() { python3 -c '
import json, subprocess, sys
info = json.loads(subprocess.run([sys.argv[1], "info", sys.argv[2], "--json"], capture_output=True, check=True).stdout)
for frame in info["frames"]:
    print(frame["number"], frame["hash"], frame["ledger"])' "$program" "$1"; }

cat >tiny.lua <<'SCENE'
scene { name = "tiny", frames = 8, fps = 24 }
liquid.waves {
  size = {2, 2}, cells = param("cells", 32),
  ground = function(x, z) return 0.2 * x end,
  surface = 0.25,
  drops = { { time = 0.1, center = {1, 1}, radius = 0.2, volume = 0.004 } },
}
camera { eye = {1, 1.5, 4}, look = {1, 0.2, 1} }
film { width = 96, height = 64, samples = 1 }
SCENE

# run makes the cache, the movie and five stills, and names them
expect "run exits with 0" code 0 "$program" run tiny.lua
expect "run names the movie" grep -q 'out/tiny/tiny.mp4' said
expect "the movie is there" test -s out/tiny/tiny.mp4
expect "five stills" test "$(find out/tiny/stills -name 'tiny.*.png' | wc -l)" = 5
expect "the last frame has a still" test -s out/tiny/stills/tiny.0008.png
expect "a line for each frame" test "$(grep -cE '^run frame [0-9]+ of 8, [01] substeps?, [0-9.]+ s, [0-9]+ s left, [0-9.]+ [kMG]?B$' said)" = 8
expect "eight rows in the ledger" test "$(grep -c '^[0-9]' out/tiny/ledger.csv)" = 8
expect "a second run is refused" code 2 "$program" run tiny.lua
expect "and says what to do" grep -q -- '--force' said
expect "a forced run is not" code 0 "$program" run tiny.lua --force -q --preview
expect "-q is silent" test ! -s said

# info and verify
expect "info --json is JSON" bash -c "'$program' info out/tiny --json | python3 -c '
import json, sys
info = json.load(sys.stdin)
assert len(info[\"frames\"]) == 8 and info[\"peak_memory\"] > 0
assert {\"number\", \"time\", \"hash\", \"ledger\"} <= set(info[\"frames\"][0])
assert {\"name\", \"seconds\"} <= set(info[\"stages\"][0])'"
expect "info" code 0 "$program" info out/tiny
expect "verify" code 0 "$program" verify out/tiny
cp -r out/tiny damaged
python3 - damaged/frames/tiny.0003.h5 <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(-200, 2)
    byte = file.read(1)[0]
    file.seek(-200, 2)
    file.write(bytes([byte ^ 1]))
PYTHON
expect "verify finds a changed byte" code 1 "$program" verify damaged
expect "and names the frame" grep -q 'tiny.0003' said
"$program" verify damaged >/dev/null 2>said
expect "the summary comes last, on the same stream" bash -c 'head -1 said | grep -q "^wrong " && tail -1 said | grep -q "1 wrong"'
rm damaged/manifest.json
expect "a cache without its manifest is damaged" code 1 "$program" verify damaged
for command in info render verify; do
    expect "$command: no cache there" code 2 "$program" $command nowhere
    expect "$command: a scene is no cache" code 2 "$program" $command tiny.lua
    expect "$command: says what makes one" grep -q 'that is a scene; undine run makes a cache from it' said
done

# pictures from the cache
expect "render" code 0 "$program" render out/tiny --preview -s 3 -e 5 --png --exr --movie --size 64x36 -o pictures
expect "three PNG" test "$(find pictures -name '*.png' | wc -l)" = 3
expect "three EXR" test "$(find pictures -name '*.exr' | wc -l)" = 3
expect "a movie" test -s pictures/tiny.mp4
expect "frames that are not there" code 2 "$program" render out/tiny --preview -s 3 -e 50

# the same bits at any number of threads
for threads in 1 2 7; do
    expect "sim -j $threads" code 0 "$program" sim tiny.lua -j $threads -o threads.$threads -q
    hashes threads.$threads >hashes.$threads
done
expect "1 and 2 threads: the same bits" same hashes.1 hashes.2
expect "1 and 7 threads: the same bits" same hashes.1 hashes.7
expect "the hashes are those of 8 frames" test "$(wc -l <hashes.1)" = 8

# stopped in the middle, then resumed: the same bits as a run left alone
frames_said() { grep -c '^sim frame' "$1"; }
size=(--set cells=48)
interrupt INT "sim frame 12 " "$program" sim tiny.lua "${size[@]}" -e 100000 -o stopped --checkpoint 5
expect "a stopped run exits with 130" test $? = 130
expect "after the frame under way" test $(($(frames_said log) - $(frames_said log.before))) -le 1
expect "and says how to go on" grep -q -- '--resume' log
expect "a stopped cache is whole" code 0 "$program" verify stopped
rows=$(last_of stopped) last=$((rows + 6))
expect "verify says what is not there yet" grep -q "^frames $((rows + 1)) to 100000 are not there yet" said
expect "resumed" code 0 "$program" sim tiny.lua "${size[@]}" -e $last -o stopped --resume
expect "left alone" code 0 "$program" sim tiny.lua "${size[@]}" -e $last -o alone -q
hashes stopped >hashes.stopped
hashes alone >hashes.alone
expect "all frames" test "$(wc -l <hashes.stopped)" = $last
expect "resumed: the same bits" same hashes.stopped hashes.alone
expect "a resumed cache is whole" code 0 "$program" verify stopped

# further than first asked; the movie has all frames
expect "run further" code 0 "$program" run tiny.lua --resume -e 10
expect "which says what it draws again" grep -qx 'drawing frames 1 to 8 again for the movie' said
expect "ten rows" test "$(grep -c '^[0-9]' out/tiny/ledger.csv)" = 10
expect "ten frames in the movie" test "$(samples out/tiny/tiny.mp4)" = 10

# stopped while it draws: the movie of the resumed run has every frame
interrupt TERM "run frame 2 " "$program" run tiny.lua --samples 2 --size 320x180 -e 100000 -o drawn
expect "a run stopped while drawing exits with 130" test $? = 130
expect "its cache is whole" code 0 "$program" verify drawn
last=$(($(last_of drawn) + 6))
expect "it is resumed" code 0 "$program" run tiny.lua --size 64x36 -e $last -o drawn --resume -q
expect "with the frames already there in the movie" test "$(samples drawn/tiny.mp4)" = $last
hashes drawn | head -n 8 >hashes.drawn
expect "and the same bits" same hashes.1 hashes.drawn

# the command that a stopped run prints makes the pictures that were asked for
interrupt INT "run frame 3 " "$program" run tiny.lua -j 1 --size 64x36 --stills 3 --set cells=24 -e 100000 -o asked
expect "the printed command has every option" grep -qx \
    "  $program run tiny.lua -j 1 --size 64x36 --stills 3 --set cells=24 -e 100000 -o asked --resume" log
last=$(($(last_of asked) + 3))
printed=$(grep -- '--resume$' log | sed "s/-e 100000/-e $last/")
expect "it goes on" code 0 bash -c "$printed"
expect "with three stills" test "$(find asked/stills -name 'tiny.*.png' | wc -l)" = 3
# bytes 16 to 23 of a PNG file: width and height
still=asked/stills/tiny.$(printf %04d $last).png
expect "of the size asked for" test "$(od -An -tx1 -j16 -N8 "$still" | tr -d ' ')" = 0000004000000024

# a scene that fails on the way keeps what came before
sed 's/drops = .*/springs = { { center = {1, 1}, radius = 0.3, rate = function(x, z, t) if t > 0.2 then error("dry") end return 0.01 end } },/' tiny.lua >late.lua
expect "a scene that fails late" code 2 "$program" sim late.lua -o late
expect "says what is kept" grep -qE '^frames 1 to [0-9] are kept in late; run the corrected scene with --force$' said
expect "which is whole" code 0 "$program" verify late
expect "the corrected scene is run with --force" code 0 "$program" sim tiny.lua -o late --force
expect "--resume with --force" code 2 "$program" sim tiny.lua -o late --resume --force
expect "is explained" grep -q 'give one of them' said

# --force replaces a cache, never another folder
mkdir -p mine/frames
echo precious >mine/ledger.csv
echo precious >mine/frames/mine.0001.h5
find mine -type f -exec cksum {} + >before
expect "--force onto a folder of other files" code 2 "$program" sim tiny.lua -o mine --force
expect "says so" grep -q 'mine is not a cache' said
find mine -type f -exec cksum {} + >after
expect "leaves them alone" same before after
rm late/manifest.json
expect "--force replaces what a killed run left" code 0 "$program" sim tiny.lua -o late --force
mkdir empty
expect "--force onto an empty folder" code 0 "$program" sim tiny.lua -o empty --force

# wrong input: exit code 2, a message with file and line, nothing made
sed 's/surface = 0.25/surfase = 0.25/' tiny.lua >wrong.lua
expect "a wrong scene" code 2 "$program" run wrong.lua -o wrong
expect "names file and line" grep -q 'wrong.lua:' said
expect "leaves no folder" test ! -e wrong
expect "a scene that is not there" code 2 "$program" run missing.lua -o wrong
expect "leaves no folder either" test ! -e wrong
expect "an unknown option" code 2 "$program" run tiny.lua --forse
expect "gets a suggestion" grep -q -- '--force' said
expect "an unknown command" code 2 "$program" rum tiny.lua
expect "gets a suggestion too" grep -q 'did you mean run' said
expect "no command" code 2 "$program"
expect "an unknown parameter" code 2 "$program" sim tiny.lua --set nothing=1 -o wrong
sed 's/param("cells", 32)/param("n", 32)/' tiny.lua >short.lua
expect "one of a single letter" code 2 "$program" sim short.lua --set d=3 -o wrong
expect "is near to no other" bash -c 'grep -q "no such param" said && ! grep -q "did you mean" said'
expect "unless it is the same letter" code 2 "$program" sim short.lua --set N=3 -o wrong
expect "which is suggested" grep -q 'did you mean "n"' said
expect "no scene" code 2 "$program" run

# the environment says no: exit code 1
touch file
expect "a folder that cannot be made" code 1 "$program" sim tiny.lua -o file/out
expect "is named" grep -q 'file' said
full() { (ulimit -f 24 && exec "$program" sim tiny.lua --set cells=128 --compress 0 -o full); }
expect "a full disk" code 1 full
expect "is explained" grep -q 'undine: ' said

# check, help, version, validate
expect "check" code 0 "$program" check tiny.lua
expect "prints the grid" grep -q '32 x 32 cells' said
expect "check writes nothing" test ! -e out/tiny.lua
cat >splash.lua <<'SCENE'
scene { name = "splash", frames = 4 }
liquid.columns {
  size = {4, 4}, cells = 64, ground = -1, level = 0, spray = { radius = 0.1 },
  bodies = { { shape = sphere { radius = 0.3 }, density = 2500, at = {2, 2, 2} },
             { shape = box { size = {0.5, 0.5, 0.5} }, mass = 75, at = {1, 0, 1} },
             { shape = sphere { radius = 0.01 }, density = 300, at = {9, 0, 9}, release = 5 },
             { shape = sphere { radius = 0.3 }, keys = { { time = 0, at = {3, 0, 3} } } } },
}
film { width = 96, height = 64, samples = 1 }
SCENE
expect "check of bodies" code 0 "$program" check splash.lua
expect "counts them" grep -q '^bodies     3 free, 1 led or held' said
expect "one sinks" grep -q '^body 1     sinks: 2500 kg/m3 in a liquid of 1000' said
expect "one floats" grep -q '^body 2     floats: 600 kg/m3 in a liquid of 1000, 40 % of it above' said
expect "one is lost" grep -q '^warning    body 3 begins outside the domain' said
expect "and small" grep -q '^warning    body 3 is narrower than a cell' said
expect "and late" grep -q '^warning    body 3 is let go at 5 s, after the last frame' said
expect "drops are large" grep -q '^warning    the largest drops of spray' said
cat >giant.lua <<'SCENE'
scene { name = "giant", frames = 2 }
liquid.columns { size = {2, 1}, cells = 16,
  bodies = { { shape = box { size = {10, 6, 8} }, density = 300, at = {1, 0, 0.5} } } }
film { width = 96, height = 64, samples = 1 }
SCENE
expect "check of a body in centimetres" code 0 "$program" check giant.lua
expect "it is too large" grep -q '^warning    body 1 is larger than the domain: 10 m long, the domain 2 m' said
sed 's/at = {1, 0, 1}/at = {2.1, 2, 2}/; s/at = {2, 2, 2}/at = {2, 2, 2}, release = 0.1/; s/at = {9, 0, 9}/at = {3, -1.5, 3}/
    s/radius = 0.1 }/radius = 0.1, wind = {1, 0, 0} }/' splash.lua >crowded.lua
expect "check of bodies in each other" code 0 "$program" check crowded.lua
expect "names the two" grep -q '^warning    bodies 1 and 2 begin in each other' said
expect "and one in the ground" grep -q '^warning    body 3 begins with its middle in the ground' said
expect "and wind that does nothing" grep -q '^warning    wind moves spray through its drag' said
sed 's/ground = -1/ground = -900000/; s/cells = 64/cells = 8/' splash.lua >deep.lua
expect "check of deep water" code 0 "$program" check deep.lua
expect "which is slow" grep -q 'pipe_depth = 1.47e+05 would make it 100$' said
"$program" check splash.lua >said
expect "a step is taken in parts" grep -qE '^steps      ([2-9]|[0-9]{2}) a frame' said
cat >cells.lua <<'SCENE'
scene { name = "cells", frames = 3 }
liquid.cells {
  size = {1, 0.6, 0.5}, cells = {20, 15, 10}, track = "height", level = 0.2, viscosity = 0.1,
  solids = { box { min = {0.51, 0, 0}, max = {0.52, 1, 1} }, box { min = {0.7, 0, 0}, max = {0.9, 0.3, 0.3} } },
  fill = { box { min = {0.72, 0.1, 0.1}, max = {0.88, 0.2, 0.2} }, sphere { center = {5, 5, 5}, radius = 1 },
           sphere { center = {0.3, 0.45, 0.25}, radius = 0.1 } },
  gates = { { shape = box { min = {0.76, 0.1, 0.1}, max = {0.84, 0.2, 0.2} }, kind = "outflow" },
            { side = "left", kind = "inflow", velocity = {-1, 0, 0} },
            { side = "right", kind = "inflow", velocity = function(t) return -30, 0, 0 end, start = 0.01 },
            { side = "top", kind = "outflow", start = 10, stop = 11 } },
}
film { width = 96, height = 64, samples = 1 }
SCENE
expect "check of cells" code 0 "$program" check cells.lua
expect "tells their sizes" grep -q '^grid       20 x 15 x 10 cells of 0.05 x 0.04 x 0.05 m, 3000 in all' said
expect "and what they hold" grep -qE '^liquid     [0-9]+ of 3000 cells' said
expect "finds the thin wall" grep -q '^warning    solid 1 holds the middle of no cell' said
expect "liquid in a wall" grep -q '^warning    fill 1 lies wholly in what is solid' said
expect "and beyond it all" grep -q '^warning    fill 2 lies outside the domain' said
expect "a walled-in gate" grep -q '^warning    gate 1 is beside no cell' said
expect "one that sucks" grep -q '^warning    gate 2 is an inflow, and its velocity never points into' said
expect "one that comes late" grep -q '^warning    gate 4 begins at 10 s, after the last frame' said
sed 's/return -30, 0, 0/return -1e9, 0, 0/; s/start = 0.01/start = 0/' cells.lua >fast.lua
expect "check of liquid too fast" code 0 "$program" check fast.lua
expect "sees it run away" grep -q '^warning    cells: the liquid ran away' said
"$program" check cells.lua >said
expect "air below water" grep -qE '^warning    in [0-9]+ columns there is air below liquid' said
expect "says what rules" grep -qE '^substeps   about [0-9]+ a frame when that fast: (viscosity|eq. 3) rules' said
cat >dam.lua <<'SCENE'
scene { name = "dam", frames = 3 }
liquid.cells { size = {1, 0.8}, cells = 20, fill = box { max = {0.4, 0.6, 1} } }
SCENE
expect "sim of cells" code 0 "$program" sim dam.lua -o cells
expect "info of cells" code 0 "$program" info cells
expect "tells the steps" grep -qE '^ +all +[0-9]+ .* s  equation 3' said
expect "in JSON, too" python3 - "$program" <<'PYTHON'
import json, subprocess, sys
info = json.loads(subprocess.run([sys.argv[1], "info", "cells", "--json"], capture_output=True, check=True).stdout)
steps = [frame["step"] for frame in info["frames"]]
assert len(steps) == 3 and steps[0]["substeps"] == 0, steps
for step in steps[1:]:
    assert step["substeps"] >= 1 and 0 < step["shortest"] <= 1 / 24 + 1e-9, step
    assert step["most_iterations"] >= step["mean_iterations"] > 0 and step["divergence"] >= 0, step
PYTHON
expect "help" code 0 "$program" --help
for command in run sim check render info verify validate bench; do
    expect "help lists $command" grep -q "undine $command" said
done
for command in run sim check render info verify validate bench; do
    expect "$command --help" code 0 "$program" $command --help
done
expect "version" code 0 "$program" --version
expect "validate" code 0 "$program" validate fresnel displacement wave_speed
expect "validate names a source once" test "$(grep -c 'sqrt(g d)' said)" = 1
expect "validate: the numbers end where their headings do" python3 - said <<'PYTHON'
import sys
lines = open(sys.argv[1]).read().splitlines()
head = lines[0].index("tolerance") + len("tolerance")
rows = [line for line in lines if line.startswith("pass")]
assert len(rows) > 5 and all(row[head - 1] != " " and row[head:head + 2] == "  " for row in rows), lines
PYTHON
expect "validate: a case that is not there" code 2 "$program" validate fresnell
expect "is suggested" grep -q 'did you mean fresnel?' said
expect "and all are listed" grep -q 'there are: displacement, .*fresnel' said
expect "bench" code 0 "$program" bench direct.extrapolation
expect "has the median and the best" grep -q '^bench .* median  *best' said
expect "says what a sweep is" grep -q '^A sweep reads' said

echo "1..$count"
[ $failures = 0 ]
