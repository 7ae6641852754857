#!/usr/bin/env bash
# tests/test_app_grids.sh PROGRAM: grids that source each other, from end to end.  Prints TAP.
. "$(dirname "$0")/app.sh"

sums() { find "$1" -type f -exec cksum {} + | sort; }
same() { cmp -s "$1" "$2"; }
rows() { local g; for g in "${@:3}"; do cmp -s "$1/$g/ledger.csv" "$2/$g/ledger.csv" || return 1; done; }

cat >fall.lua <<'SCENE'
scene { name = "fall", frames = 24, fps = 24 }
local dx = 1 / 16
liquid.levelset { name = "top", size = {1, 1}, cells = {16, 16}, origin = {0, 1}, open = "bottom",
  sources = { { shape = box { min = {-1, 1.8, -1}, max = {0.3, 2.1, 1} }, velocity = {0, -1.5} } } }
liquid.levelset { name = "low", from = "top", size = {1, 1 + 3 * dx}, cells = {16, 19}, open = "right" }
film { width = 64, height = 64, samples = 1 }
SCENE
# a third grid, to the right of the second
sed '/^liquid.levelset { name = "low"/a liquid.levelset { name = "side", from = {"low"}, size = {0.5 + 3 * dx, 1}, cells = {11, 16}, origin = {1 - 3 * dx, 0} }' fall.lua >more.lua

expect "all grids" code 0 "$program" sim fall.lua -o out -j 2
expect "says what the first does" grep -q '^sim top frame 24 of 24' said
expect "and the second" grep -q '^cache  out/low (frames 1 to 24)' said
expect "liquid has come to the second" bash -c "'$program' info out/low --json | python3 -c '
import json, sys
ledger = json.load(sys.stdin)[\"frames\"][-1][\"ledger\"]
assert ledger[\"sources\"] > 0.01, ledger'"
expect "what left the first, within 2 %" bash -c "'$program' info out --json | python3 -c '
import json, sys
top, low = [g[\"frames\"][-1][\"ledger\"] for g in json.load(sys.stdin)]
assert abs(low[\"sources\"] / top[\"left\"] - 1) < 0.02, (low, top)'"
expect "verify" code 0 "$program" verify out
expect "of both" test "$(grep -c 'files, all as they were written' said)" = 2
expect "info" code 0 "$program" info out
expect "of both" test "$(grep -c '^name ' said)" = 2
expect "render" code 0 "$program" render out --preview --png -o drawn -q
expect "one picture of both" test "$(find drawn -name 'fall.*.png' | wc -l)" = 24
expect "export" code 0 "$program" export out --vdb -o vdb -q
expect "a folder for each" test -s vdb/low/vdb/low.0024.vdb -a -s vdb/top/vdb/top.0001.vdb
expect "check" code 0 "$program" check fall.lua
expect "of both" test "$(grep -c '^grid [tl]o[pw]$' said)" = 2
expect "run" code 0 "$program" run fall.lua -o film -q
expect "makes the movie" test -s film/fall.mp4
expect "with the same frames" rows out film top low

# one after the other, and with other threads, the same bits
expect "one grid" code 0 "$program" sim fall.lua --grid top -o alone -q -j 3
expect "then the other" code 0 "$program" sim fall.lua --grid low -o alone -q -j 1
expect "the same bits" rows out alone top low
expect "and the same bands" same out/top/bands alone/top/bands

sed 's/frames = 24/frames = 100000/' fall.lua >long.lua

# a signal so early that the grids' processes do not listen yet
early()
{
    local run child=
    "$program" sim long.lua -o early -q >said 2>&1 &
    run=$!
    while [ -z "$child" ] && kill -0 $run 2>/dev/null; do
        child=$(cat /proc/$run/task/$run/children 2>/dev/null)
    done
    kill -INT $child
    kill -INT $run
    wait $run
}
early
expect "an early Ctrl-C" test $? = 130

# another grid is added later
sums out/top >top.before
sums out/low >low.before
sed 's/size = {1, 1 + 3 \* dx}/size = {1 + 1e-9, 1 + 3 * dx}/' fall.lua >rounded.lua
expect "cells that differ by rounding" code 0 "$program" sim rounded.lua -o rounded -e 4 -q -j 2
expect "a grid more" code 0 "$program" sim more.lua -o out --grid side -q
sums out/top >top.after
sums out/low >low.after
expect "not a byte of the first has changed" same top.before top.after
expect "nor of the second" same low.before low.after
expect "liquid has come to it" bash -c "'$program' info out/side | grep -q 'sources 0.0'"
rm -r out/side
expect "as --resume of all does" code 0 "$program" sim more.lua -o out --resume
expect "which says what is there" grep -qx 'top is there already, up to frame 24' said
sums out/top >top.after
expect "and leaves it alone" same top.before top.after
expect "render of three" code 0 "$program" render out --preview -s 24 --stills 1 -o three -q

# killed and resumed, both and one
interrupt INT "sim low frame 15 " "$program" sim long.lua -o stopped --checkpoint 10
expect "all stop with 130" test $? = 130
expect "say how to go on" grep -q -- 'sim long.lua -o stopped --checkpoint 10 --resume' log
expect "nobody writes any more" test ! -e stopped/top/lock -a ! -e stopped/low/lock
expect "the caches are whole" code 0 "$program" verify stopped
interrupt KILL "sim top frame 25 " "$program" sim long.lua --grid top -o killed --checkpoint 10
last=$(($(last_of stopped/top) + $(last_of killed/top)))
"$program" sim long.lua -o whole -e $last -q
expect "resumed" code 0 "$program" sim long.lua -o stopped --resume -e $last -q
expect "the same bits" rows whole stopped top low
expect "the same bands" same whole/top/bands stopped/top/bands
printf 'half a record' >>killed/top/bands
expect "downstream of a killed grid" code 1 "$program" sim long.lua --grid low -o killed --wait 0.5
expect "says that it has stopped" grep -qE 'which its liquid comes from, has stopped at frame [0-9]+ of 100000' said
expect "and how to go on" grep -q -- '--grid top --resume, then with --grid low --resume' said
expect "upstream goes on" code 0 "$program" sim long.lua --grid top -o killed --resume -e $last -q
expect "then downstream" code 0 "$program" sim long.lua --grid low -o killed --resume -e $last -q
expect "the same bits" rows whole killed top low
expect "further than upstream" code 1 "$program" sim long.lua --grid low -o killed --resume -e $((last + 10)) --wait 0.2
expect "says so" grep -q "has stopped at frame $last of $last: go on with --grid top --resume -e FRAME" said
expect "no upstream at all" code 1 "$program" sim long.lua --grid low -o none --wait 0.2
expect "says so" grep -q 'there is no cache none/top: simulate that too (--grid top)' said
cp -r out damaged
printf x | dd of=damaged/top/bands bs=1 seek=3000 conv=notrunc 2>/dev/null
expect "a band that was touched" code 1 "$program" verify damaged
expect "is named" grep -q 'damaged/top/bands: record [0-9]* has changed' said

# cells that hold their volume: all that leaves one grid comes to the other, drops too, however it is run; the third grid
# is as high as the second, or drops would fly over it
sed 's/liquid.levelset { /liquid.levelset { surface = "volume", /; s/frames = 24/frames = 16/; s/{0, -1.5}/{0, -3}/
    s/open = "bottom",/open = "bottom", fill = box { min = {0.8, 1.2, -1}, max = {0.98, 1.22, 1} },/
    s/0.5 + 3 \* dx, 1}, cells = {11, 16}/0.5 + 3 * dx, 1 + 3 * dx}, cells = {11, 19}/' more.lua >holds.lua
exact()
{
    "$program" info "$1" --json | python3 -c '
import json, sys
top, low, side = [g["frames"][-1]["ledger"] for g in json.load(sys.stdin)]
assert top["left"] > 0.01 and low["left"] > 1e-4 and top["spray_out"] > 1e-5, (top, low)
assert low["spray_out"] > 0.5 * top["spray_back"], (low, top)
assert abs(low["sources"] - top["left"]) < 1e-12 * top["left"], (low, top)
assert abs(side["sources"] - low["left"]) < 1e-12 * low["left"], (side, low)
assert top["correction"] == 0 and abs(low["correction"]) + abs(side["correction"]) < 1e-15'
}
expect "cells that hold their volume" code 0 "$program" sim holds.lua -o holds -q
expect "go on to the last bit" exact holds
expect "one grid of them" code 0 "$program" sim holds.lua -o held --grid top -q
expect "as far as it goes" code 0 "$program" sim holds.lua -o held --grid low -q -e 9 --checkpoint 9
expect "is resumed" code 0 "$program" sim holds.lua -o held --resume -q
expect "with the same bits" rows holds held top low side
expect "and branched" code 0 "$program" sim holds.lua --from holds@7 -o held2 -q
expect "with the same bits" rows holds held2 top low side
sed 's/surface = "volume"/surface = "particles"/' holds.lua >other.lua
expect "another surface in a branch" code 2 "$program" sim other.lua --from holds@7 -o held3 -q
expect "is explained" grep -q 'a branch keeps those of a grid that others begin in' said

# branches of several grids
expect "a branch of both" code 0 "$program" sim fall.lua --from out@12 -o branch -q
expect "gives what going on gave" rows out branch top low
expect "and is verified" code 0 "$program" verify branch

# wrong input
wrong()
{
    expect "$1" code 2 "$program" check wrong.lua
    expect "is explained" grep -q "$2" said
}
sed 's/from = "top"/from = "topp"/' fall.lua >wrong.lua
wrong "an unknown grid" 'wrong.lua:5: liquid.levelset "low": from: there is no grid "topp" (did you mean "top"?)'
sed 's/open = "bottom",/open = "bottom", from = "low",/' fall.lua >wrong.lua
wrong "a circle" 'the grids go round in a circle'
sed 's/size = {1, 1 + 3 \* dx}, cells = {16, 19}/size = {1, 1}, cells = {16, 16}/' fall.lua >wrong.lua
wrong "no overlap" 'it shares no cells with "top"'
sed 's/size = {1, 1 + 3 \* dx}, cells = {16, 19}/size = {1, 1 + 5 * dx}, cells = {16, 21}/' fall.lua >wrong.lua
wrong "too much of it" 'it shares 16 x 5 x 1 cells with "top": expected those along an open side of that, 3 deep'
sed 's/open = "bottom"/open = "left"/' fall.lua >wrong.lua
wrong "a side that is not open" 'expected those along an open side of that'
sed 's/open = "right"/open = "top"/' fall.lua >wrong.lua
wrong "open where the liquid comes from" 'open: its top lies in "top", from which liquid comes'
sed 's/size = {1, 1 + 3 \* dx}, cells = {16, 19}/size = {1, 1 + 3 * dx}, cells = {32, 38}/' fall.lua >wrong.lua
wrong "other cells" 'its cells are 0.03125 m wide, those of "top" 0.0625 m: expected the same'
sed 's/name = "low"/surface = "particles", name = "low"/' fall.lua >wrong.lua
wrong "volumes in one alone" 'surface: it or "top" has "volume": expected both to'
sed 's/name = "low"/name = "top"/' fall.lua >wrong.lua
wrong "a name twice" 'there is a grid of the name "top" already'
sed 's/name = "low", from = "top",//' fall.lua >wrong.lua
wrong "no name" 'missing key "name"'
expect "--grid of a scene without" code 2 "$program" sim fall.lua --grid bottom -o wrong
expect "is explained" grep -q 'there is no grid "bottom"' said
expect "a cache that is there" code 2 "$program" sim fall.lua -o out
expect "says what to do" grep -q -- '--resume goes on with what is not whole, --force replaces all' said
expect "unless forced" code 0 "$program" sim fall.lua -o out --force -q
expect "with the same bits" rows film out top low

echo "1..$count"
[ $failures = 0 ]
