#!/usr/bin/env bash
# Mistakes that end in an empty run, or in one in which part of the scene does nothing: check, sim and run warn of them.
# usage: tests/test_app_warn.sh PROGRAM
. "$(dirname "$0")/app.sh"

# warns SCENE COMMAND PATTERN...: the command says so.
warns()
{
    local scene=$1 command=$2 pattern
    shift 2
    if [ "$command" = check ]; then
        code 0 "$program" check "$scene.lua" || return 1
    else
        code 0 "$program" "$command" "$scene.lua" -j 1 --force -e 2 -o "$scene" || return 1
    fi
    for pattern in "$@"; do
        grep -qE "^warning    $pattern" said || { sed 's/^/# /' said; return 1; }
    done
}

cat >cube.obj <<'MESH'
v -50 -50 -50
v 50 -50 -50
v 50 50 -50
v -50 50 -50
v -50 -50 50
v 50 -50 50
v 50 50 50
v -50 50 50
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 4 8 7 3
f 1 5 8 4
f 2 3 7 6
MESH
printf 'x,y,z\n0.5,-0.5,0.5\n0.2,-0.7,0.6\n' >lying.csv
cat >swallowed.lua <<'SCENE'
scene { name = "swallowed", frames = 2 }
liquid.levelset { size = {1, 1, 1}, cells = 8, fill = box { max = {0.4, 0.6, 1} }, solids = mesh { file = "cube.obj" } }
SCENE
cat >lost.lua <<'SCENE'
scene { name = "lost", frames = 2 }
liquid.levelset {
  size = {1, 1, 1}, cells = 8, level = 0.4,
  solids = { box { min = {3, 0, 0}, max = {4, 1, 1} } },
  sources = { { shape = box { min = {2, 2, 2}, max = {3, 3, 3} }, velocity = {1, 0, 0} },
              { shape = box { min = {0.2, 0.7, 0.2}, max = {0.6, 0.71, 0.6} }, velocity = {0, -1, 0} },
              { shape = box { min = {0.2, 0.7, 0.2}, max = {0.6, 0.9, 0.6} }, velocity = {0, -1, 0} } },
  control = { { kind = "velocity", radius = 0.1, particles = { file = "lying.csv" } },
              { kind = "velocity", radius = 0.1, at = {0.5, 0.4, 0.5} } },
}
SCENE
cat >cells.lua <<'SCENE'
scene { name = "cells", frames = 2 }
liquid.cells { size = {1, 1, 1}, cells = 8, fill = box { max = {0.4, 0.6, 1} }, solids = mesh { file = "cube.obj" },
               gates = { { side = "left", shape = sphere { center = {5, 5, 5}, radius = 1 }, kind = "inflow", velocity = {1, 0, 0} } } }
SCENE
cat >pond.lua <<'SCENE'
scene { name = "pond", frames = 2 }
liquid.waves { size = {4, 4}, cells = 8, level = 0, ground = -1, springs = { { center = {9, 9}, radius = 0.2, rate = 0.1 } } }
SCENE
cat >brim.lua <<'SCENE'
scene { name = "brim", frames = 2 }
liquid.levelset { size = {1, 1, 1}, cells = 8, level = 2, max_step = 1e-4, particles = 0 }
SCENE
cat >births.lua <<'SCENE'
scene { name = "births", frames = 2 }
liquid.cells { size = {1, 1}, cells = 12, level = 0.3, walls = { left = { kind = "inflow", velocity = {0.5, 0}, markers = 1e9 } },
               gates = { { side = "right", shape = box { min = {0.9, 0.7, -1}, max = {1.1, 0.9, 1} }, kind = "inflow",
                           velocity = {-0.5, 0}, markers = 1e9 } } }
SCENE
cat >full.lua <<'SCENE'
scene { name = "full", frames = 2 }
liquid.cells { size = {1, 1}, cells = 8, level = 2 }
SCENE
cat >speck.lua <<'SCENE'
scene { name = "speck", frames = 2 }
liquid.columns { size = {4, 4}, cells = 8, level = 0, ground = -1, drops = { { center = {2, 2}, radius = 0.02, height = 0.1 } } }
SCENE
for scene in swallowed lost cells pond brim births full speck; do
    echo 'film { width = 32, height = 32, samples = 1 }' >>$scene.lua
done
for command in check sim run; do
    expect "$command: a mesh in centimetres" warns swallowed $command 'there is no room for liquid' \
        'solid 1 takes up the whole domain: it spans x -50 to 50.*scale = 0.01'
done
expect "check counts no liquid in solids" sh -c '"$1" check swallowed.lua | grep -q "^liquid     0 of 512"' - "$program"
for command in check sim; do
    expect "$command: what never meets the liquid" warns lost $command 'solid 1 lies outside the domain' \
        'source 1 lies outside the domain: it spans x 2 to 3, y 2 to 3, z 2 to 3 m, the domain x 0 to 1' \
        'source 2 holds the middle of no cell.*no liquid comes from it' \
        'control 1 leads nothing.*y -0.8 to -0.4.*turn = '
    expect "and of the rest nothing" test "$(grep -c '^warning' said)" = 4
    expect "$command: cells" warns cells $command 'solid 1 takes up the whole domain' 'fill 1 lies wholly in what is solid' \
        'gate 1 is beside no cell'
    expect "$command: waves" warns pond $command 'source 1 lies outside the domain'
    expect "$command: markers beyond count" warns births $command 'gate 1: markers: of 1e\+09 a second .* 1000 to a cell' \
        'left: markers: of 1e\+09 a second'
    expect "$command: cells full of liquid" warns full $command 'the domain is filled to the brim'
    expect "$command: a drop below the cells" warns speck $command 'drop 1 is smaller than a cell: radius 0.02 m, cells of 0.5 m'
done
expect "filled to the brim, in many steps" warns brim check 'the domain is filled to the brim' \
    'max_step of 0.0001 s makes 417 steps of a frame'
for model in levelset cells; do
    printf 'scene { name = "crawl", frames = 2 }\nliquid.%s { size = {1, 1}, cells = 8, level = 0.4, max_step = 1e-9 }\n' $model >crawl.lua
    expect "$model: steps beyond count" code 2 "$program" sim crawl.lua -j 1 --force -o crawl
    expect "are max_step's doing" grep -qE "$model: max_step: 1e-09 s would need [0-9]+ steps a frame or more" said
done
cat >drop.lua <<'SCENE'
scene { name = "drop", frames = 8 }
liquid.levelset { size = {1, 1, 1}, cells = 10, surface = "particles", spray = false, particles = 0, fill = sphere { center = {0.5, 0.7, 0.5}, radius = 0.2 } }
SCENE
expect "a coarse drop that wears away" code 0 "$program" sim drop.lua -j 1 -o drop
expect "is told, with the cure" grep -qE '^warning    the liquid has (gained|lost) [0-9.e+]+ % .*surface = "volume" loses none' said
cat >kept.lua <<'SCENE'
scene { name = "kept", frames = 2 }
liquid.levelset { size = {1, 1}, cells = 16, level = 0.4, keep_volume = true }
SCENE
expect "what keeps volume twice" warns kept check 'keep_volume does nothing: cells hold their volume'

cat >rest.lua <<'SCENE'
scene { name = "rest", frames = 2 }
liquid.cells { size = {1, 1}, cells = 16, level = 0.5, track = "height" }
SCENE
expect "water at rest" code 0 "$program" sim rest.lua -j 1 -o rest
expect "is no matter for warnings" test "$(grep -c '^warning' said)" = 0

echo "1..$count"
[ $failures = 0 ]
