#!/usr/bin/env bash
# tests/test_app_view.sh PROGRAM: the viewer by scripts, and in a window on a virtual screen with software OpenGL,
# moved by that screen's own mouse and keys; what it says where there is no screen.  Prints TAP.
document=$(realpath "$(dirname "$0")/../doc/view.md")
. "$(dirname "$0")/app.sh"

cat >pond.lua <<'SCENE'
scene { name = "pond", frames = 48, fps = 24, substeps = 2 }
liquid.waves { size = {4, 4}, cells = 64, ground = -0.4, level = 0, order = 2 }
camera { eye = {2, 3, 6}, look = {2, -0.2, 2} }
film { width = 64, height = 36 }
SCENE

# told NAME LINE: what that line of `tell` says of it
told() { sed -n "$2p" said | tr ' ' '\n' | grep -A1 "^$1\$" | tail -n 1; }
differ() { [ -s "$1" ] && [ -s "$2" ] && ! cmp -s "$1" "$2"; }
between() { awk -v a="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(a != "" && a >= low && a <= high) }'; }
small=(--offscreen --size 800x860 -j 1)

cat >stir.txt <<'SCRIPT'
shot before.png
tell
point 2 0 2
press
steps 20                # a comment
release
shot after.png
tell
slide "damping" 0.5     # of 0 to 5
draw 2
tell
click "Save the moment"
click "Save as a scene"
steps 0
click "Save as a checkpoint"
steps 0
tell
SCRIPT
expect "a script" code 0 "$program" view pond.lua --script stir.txt "${small[@]}"
expect "stands at first" test "$(told time 1)" = 0
expect "twenty steps are twenty" test "$(told time 2)" = 0.416666667
expect "stirring adds no water" between "$(told measured 2)" 6.3999999 6.4000001
expect "the slider turns the damping" between "$(told damping 3)" 2.3 2.7
expect "what is seen changes" differ before.png after.png
expect "a moment is saved as a scene" code 0 "$program" sim out/pond-moment.lua -e 3 -o again -q
expect "and as a checkpoint" code 0 "$program" info out/pond-moment

echo 'slide "nothing" 0.5' >wrong.txt
expect "a widget that is not there" code 2 "$program" view pond.lua --script wrong.txt "${small[@]}"
expect "is named, with file and line" grep -q 'wrong.txt:1: slide: "nothing" is not on the screen' said
printf 'draw\njump\n' >wrong.txt
expect "a line that is no command" code 2 "$program" view pond.lua --script wrong.txt "${small[@]}"
expect "is named too" grep -q 'wrong.txt:2: jump is no command' said
expect "a scene that is not there" code 2 "$program" view nothing.lua --script stir.txt "${small[@]}"
expect "a script that is not there" code 1 "$program" view pond.lua --script nothing.txt "${small[@]}"
mkdir empty
expect "a folder that is no cache" code 2 "$program" view empty --script stir.txt "${small[@]}"
expect "three paths" code 2 "$program" view a b c
expect "offscreen alone shows nothing" code 2 "$program" view pond.lua --offscreen

# a level set whose cells hold their volume: runs, is saved, plays, stands and goes on
cat >splash.lua <<'SCENE'
scene { name = "splash", frames = 12, fps = 24 }
liquid.levelset { size = {1, 1}, cells = 24, level = 0.2, fill = sphere { center = {0.5, 0.6, 0}, radius = 0.15 },
    solids = { { shape = box { min = {0.2, 0, -1}, max = {0.3, 0.3, 1} } } } }
film { width = 64, height = 36 }
SCENE
cat >splash.txt <<'SCRIPT'
shot still.png
steps 8
shot splash.png
tell
click "Save the moment"
click "Save as a checkpoint"
steps 0
key space
draw 10
key space
draw 2
tell
draw 5
tell
steps 2
tell
SCRIPT
expect "a level set" code 0 "$program" view splash.lua --script splash.txt "${small[@]}"
expect "runs" test "$(told time 1)" = 0.333333333
expect "is seen to" differ still.png splash.png
expect "plays" between "$(told time 2)" 0.37 1000
expect "stands" test "$(told time 3)" = "$(told time 2)"
expect "goes on" between "$(told time 4)" "$(told time 3)" 1000
expect "and not by itself" test "$(told playing 4)" = 0
expect "from its moment" code 0 "$program" sim splash.lua --from out/splash-moment@9 -o on -q
expect "as if it had run through" code 0 "$program" sim splash.lua -o through -q
ledger() { "$program" info "$1" | grep -A1 '^ledger'; }
expect "to the same volume" test "$(ledger on)" = "$(ledger through)"
expect "none of it lost" awk '{ if (!($2 * $2 < 1e-30)) exit 1 }' <<<"$(ledger on | grep -o 'correction [^ ]*')"

# caches: one, two, and not a scene beside one
expect "a cache" code 0 "$program" sim pond.lua -e 6 -q
printf 'frame 4\ntell\nshot four.png\nkey right\ndraw 2\nframe 6\ntell\nshot six.png\n' >play.txt
expect "is played" code 0 "$program" view out/pond --script play.txt "${small[@]}"
expect "at the frame asked for" test "$(told frame 2)" = 6
expect "two side by side" code 0 "$program" view out/pond out/pond --script play.txt "${small[@]}"
expect "a scene beside a cache" code 2 "$program" view out/pond pond.lua --script play.txt "${small[@]}"

# where there is no display, or one without OpenGL
expect "no display" code 1 env -u DISPLAY -u WAYLAND_DISPLAY "$program" view pond.lua
expect "is said" grep -q 'no display' said
expect "with what else there is" grep -q 'undine render CACHE --preview' said
# screen OPTIONS COMMAND...: on a virtual screen, which says its number when it is ready
screen()
{
    local server number code
    exec 3< <(exec Xvfb -displayfd 1 -screen 0 800x600x24 -nolisten tcp $1 2>/dev/null)
    server=$!
    read -r number <&3
    DISPLAY=:$number "${@:2}"
    code=$?
    kill $server
    exec 3<&-
    return $code
}
expect "no OpenGL" code 1 screen "-extension GLX" env EGL_PLATFORM=none "$program" view pond.lua
expect "is said too" grep -q 'OpenGL 3.3 is missing' said

# a real window, real mouse, real keys; a picture by its key tells that what came before it has been seen to
cat >person.sh <<'PERSON'
"$1" view pond.lua --size 800x600 -j 1 &
viewer=$!
until_there() { until ls $1 >/dev/null 2>&1; do kill -0 $viewer || exit 1; ${2:-:}; sleep 0.1; done; }
press() { xdotool key "$1"; }
until window=$(xdotool search --onlyvisible --name 'pond - Undine' | tail -n 1) && [ -n "$window" ]; do
    kill -0 $viewer || exit 1
    sleep 0.1
done
until_there 'pond.*.png' 'press p' # it listens
for i in 0 1 2 3; do
    xdotool mousemove --window "$window" $((400 + 30 * i)) 330
    [ $i -gt 0 ] || xdotool mousedown 1
    rm -f pond.*.png
    press p
    until_there 'pond.*.png'
done
xdotool mouseup 1
press ctrl+k
until_there out/pond-moment/manifest.json
press ctrl+q
wait $viewer
PERSON
rm -rf out/pond-moment
expect "a window on a virtual screen" code 0 screen "" bash person.sh "$program"
expect "keeps a picture by its key" test -s "$(ls pond.*.png | head -n 1)"
expect "saves the moment by its key" code 0 "$program" info out/pond-moment
hash_of() { "$program" info "$1" --json | python3 -c "
import json, sys
print([f['hash'] for f in json.load(sys.stdin)['frames'] if f['number'] == $2][0])"; }
last=$("$program" info out/pond-moment --json | python3 -c "
import json, sys
print(json.load(sys.stdin)['frames'][0]['number'])")
expect "the same without a person" code 0 "$program" sim pond.lua -e "$last" -o nobody -q
expect "the water was stirred" test "$(hash_of out/pond-moment "$last")" != "$(hash_of nobody "$last")"

# the document's scripts
number=0
while read -r script; do
    number=$((number + 1))
    expect "script $number of doc/view.md" code 0 "$program" view pond.lua --script "$script" "${small[@]}"
done < <(awk '/^```/ { inside = /^```view/ ? ++n : 0; next } inside { name = "doc." n ".txt"; if (!seen[n]++) print name; print > name }' \
    "$document")
expect "there is one" test $number -gt 0

echo "1..$count"
[ $failures = 0 ]
