#!/usr/bin/env bash
# A card computes what the processor does, to the last bit: here a process of this machine stands for one, with memory of
# its own, one lane, and places in an order that nobody expects.  What goes on, goes on with either.
# usage: tests/test_app_device.sh PROGRAM
. "$(dirname "$0")/app.sh"

# Water over a step and a ball that moves, a source, a drain, an open side.
cat >splash.lua <<'SCENE'
scene { name = "splash", frames = 5 }
liquid.levelset {
  size = {1, 1, 1}, cells = 16, open = "right",
  fill = box { max = {0.4, 0.6, 1} },
  solids = { box { min = {0.6, 0, 0}, max = {0.8, 0.2, 1} },
             { shape = sphere { center = {0.5, 0.5, 0.5}, radius = 0.12 },
               keys = { { time = 0, at = {0, 0.3, 0} }, { time = 0.2, at = {0, -0.2, 0} } } } },
  sources = { { shape = box { min = {0, 0.8, 0.4}, max = {0.1, 0.95, 0.6} }, velocity = {1.5, 0, 0} } },
  drains = { { shape = box { min = {0.3, 0, 0.4}, max = {0.4, 0.07, 0.6} } } },
}
SCENE
cat >honey.lua <<'SCENE'
scene { name = "honey", frames = 4 }
liquid.levelset { size = {1, 1, 1}, cells = 14, viscosity = 0.05, fill = sphere { center = {0.5, 0.4, 0.5}, radius = 0.25 },
  stick = true, solids = { box { min = {0, 0, 0}, max = {1, 0.1, 1} } } }
SCENE
cat >flat.lua <<'SCENE'
scene { name = "flat", frames = 8 }
liquid.levelset { size = {1, 1}, cells = 40, fill = box { max = {0.3, 0.7, 1} }, solids = { sphere { center = {0.7, 0.1, 0}, radius = 0.2 } } }
SCENE
cat >far.lua <<'SCENE'
scene { name = "far", frames = 3 }
liquid.levelset { size = {5, 5}, cells = 640,
  fill = union { sphere { center = {0.4, 0.4, 0}, radius = 0.2 }, sphere { center = {4.6, 4.6, 0}, radius = 0.2 } } }
SCENE
cat >thread.lua <<'SCENE'
scene { name = "thread", frames = 4 }
liquid.levelset { size = {1, 1, 1}, cells = 14, surface = "particles", fill = box { max = {0.4, 0.6, 1} } }
SCENE

cat >two.lua <<'SCENE'
scene { name = "two", frames = 4 }
local dx = 1 / 16
liquid.levelset { name = "top", size = {1, 1}, cells = {16, 16}, origin = {0, 1}, open = "bottom",
  sources = { { shape = box { min = {-1, 1.2, -1}, max = {0.3, 2.1, 1} }, velocity = {0, -3} } } }
liquid.levelset { name = "low", from = "top", size = {1, 1 + 3 * dx}, cells = {16, 19}, open = "right" }
SCENE

hashes()
{
    cut -d, -f1,13 "$1/ledger.csv"
}
same_hashes()
{
    cmp <(hashes "$1") <(hashes "$2") || { diff <(hashes "$1") <(hashes "$2") | sed 's/^/# /'; return 1; }
}
same()
{
    code 0 "$program" sim "$1.lua" -j 2 -o "$1.cpu" --device cpu && code 0 "$program" sim "$1.lua" -j 2 -o "$1.card" --device process &&
        same_hashes "$1.cpu" "$1.card"
}
goes_on()
{
    code 0 "$program" sim splash.lua -e 2 -o "$1$2" --device "$1" &&
        code 0 "$program" sim splash.lua --resume -o "$1$2" --device "$2" && same_hashes splash.cpu "$1$2"
}
# Grids that source each other are processes of their own, each with a card.
two_grids()
{
    code 0 "$program" sim two.lua -j 2 -o two.cpu --device cpu && code 0 "$program" sim two.lua -j 2 -o two.card --device process --profile &&
        same_hashes two.cpu/top two.card/top && same_hashes two.cpu/low two.card/low &&
        [ "$("$program" sim two.lua -j 2 -o two.card --force --device process --profile | grep -c 'card: a process')" = 2 ]
}
says()
{
    grep -q "$1" log
}
# Where there is a graphics card it does as the processor does; where there is none, one line says so.
graphics_card()
{
    "$program" sim flat.lua -o flat.gpu --device gpu >log 2>&1
    case $? in
    0) same_hashes flat.cpu flat.gpu ;;
    1) says 'graphics card' && [ "$(wc -l <log)" = 1 ] ;;
    *) return 1 ;;
    esac
}

if "$program" sim flat.lua -o probe --device process 2>&1 | grep -q sanitizer; then
    echo "ok 1 - a sanitizer leaves no room for a card"
    echo "1..1"
    exit 0
fi
for scene in splash honey flat far thread; do
    expect "$scene has the same hashes" same $scene
done
expect "so have two grids, each on a card" two_grids
expect "a card goes on from the processor's checkpoint" goes_on cpu process
expect "and the processor from a card's" goes_on process cpu
expect "a graphics card" graphics_card
no_such_device()
{
    "$program" sim flat.lua -o none --device abacus >log 2>&1
    [ $? = 2 ] && says 'expected cpu or gpu'
}
expect "any other device is none, and it says which there are" no_such_device

echo "1..$count"
[ $failures = 0 ]
