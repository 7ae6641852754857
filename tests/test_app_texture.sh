#!/usr/bin/env bash
# tests/test_app_texture.sh PROGRAM: texture particles on a cached liquid, from end to end.  Prints TAP.
. "$(dirname "$0")/app.sh"

sums() { find "$1" -type f -exec cksum {} + | sort; }
same() { cmp -s "$1" "$2"; }
same_frames() { diff -r "$1/frames" "$2/frames" >/dev/null && cmp -s "$1/static.h5" "$2/static.h5"; }
not() { ! "$@"; }

cat >blob.lua <<'SCENE'
scene { name = "blob", frames = 6, fps = 24 }
liquid.levelset {
  size = {1, 0.75, 1}, cells = 16, velocity = param("keep", true),
  fill = sphere { center = {0.5, 0.4, 0.5}, radius = 0.3 },
}
camera { eye = {0.5, 0.7, 2.4}, look = {0.5, 0.3, 0.5} }
water { texture = param("texture", "checker"), texture_size = 0.15 }
film { width = 96, height = 64, samples = 1 }
SCENE

expect "a flow" code 0 "$program" sim blob.lua -o out/blob -q
sums out/blob >before
expect "texture" code 0 "$program" texture out/blob
expect "a line for each frame" test "$(grep -cE '^texture frame [0-9]+ of 6, ' said)" = 6
expect "says what was made" grep -qE '^cache  out/blob-texture \(frames 1 to 6, [0-9]+ texture particles, in the flow of out/blob\)$' said
sums out/blob >after
expect "not a byte of the flow has changed" same before after

# it is a cache as any
expect "verify" code 0 "$program" verify out/blob-texture
expect "info" code 0 "$program" info out/blob-texture
expect "names the flow" grep -qx 'flow       ../blob, with what undine texture made of it (spacing=0.5)' said
expect "has what is the flow's" grep -q ' distance ' said
expect "and the particles" grep -q ' texture/rest ' said
expect "render" code 0 "$program" render out/blob-texture --preview --png -o checks -q
expect "render of the flow alone" code 0 "$program" render out/blob --preview --png -o water -q
expect "six pictures" test "$(find checks -name '*.png' | wc -l)" = 6
expect "other than without" not same checks/stills/blob.0003.png water/stills/blob.0003.png
expect "render with another texture" code 0 "$program" render out/blob-texture --preview --png --texture marble -o marble -q
expect "looks another way" not same checks/stills/blob.0003.png marble/stills/blob.0003.png
expect "render with a plate" code 0 "$program" render out/blob-texture --preview --png --texture water/stills/blob.0001.png -o plate -q

# meshes
expect "export" code 0 "$program" export out/blob-texture --ply -o files -q
for name in 'float u' 'float v' 'float s' 'float t' 'float rest_x' 'uchar red'; do
    expect "a mesh with $name" grep -qaxF "property $name" files/ply/blob.0003.ply
done
expect "export of the flow alone" code 0 "$program" export out/blob --ply -o bare -q
expect "has no u" not grep -qaxF 'property float u' bare/ply/blob.0003.ply
expect "export --texture of it" code 2 "$program" export out/blob --ply --texture marble -o bare
expect "says what makes it" grep -q 'which undine texture CACHE makes' said
expect "render --texture of it" code 2 "$program" render out/blob --preview --texture marble -o bare
expect "says what makes it" grep -q 'undine texture out/blob makes them' said
expect "a texture that is not there" code 2 "$program" export out/blob-texture --texture nothing.png -o bare
expect "names it" grep -q 'nothing.png' said

# the same bits at any number of threads; nothing is replaced unasked
expect "texture -j 7" code 0 "$program" texture out/blob -o seven -j 7 -q
expect "the same bits" same_frames out/blob-texture seven
expect "texture -j 1" code 0 "$program" texture out/blob -o one -j 1 -q
expect "the same bits" same_frames out/blob-texture one
expect "again" code 2 "$program" texture out/blob
expect "is refused" grep -q 'holds a cache already' said
expect "--force" code 0 "$program" texture out/blob --force -q
expect "the same bits" same_frames out/blob-texture seven
expect "of a textured cache" code 0 "$program" texture out/blob-texture -o twice -q
expect "is of its flow" same_frames twice seven
expect "into the flow itself" code 2 "$program" texture out/blob -o out/blob --force
expect "is refused" grep -q "is the flow's own cache" said
expect "--spacing" code 0 "$program" texture out/blob -o wide --spacing 2 -s 2 -e 4 -q
expect "has fewer frames" test "$(find wide/frames -name '*.h5' | wc -l)" = 3
expect "--spacing 0" code 2 "$program" texture out/blob -o none --spacing 0
expect "says what it may be" grep -q 'spacing: expected' said
expect "nothing is left of it" test ! -e none

# what does not serve
expect "a flow without velocities" code 0 "$program" sim blob.lua -o still --set keep=false -q
expect "texture of it" code 2 "$program" texture still -o none
expect "says why" grep -q 'still: frame 1 holds no velocity: it was simulated with velocity = false' said
expect "nothing is left of it" test ! -e none
expect "frames that are not there" code 2 "$program" texture out/blob -o none -s 9
expect "says which are" grep -q 'out/blob has frames 1 to 6' said
printf 'x' | dd of="$(find out/blob/frames -name '*0003.h5')" bs=1 seek=900 conv=notrunc status=none
expect "a damaged frame of the flow" code 1 "$program" texture out/blob -o cut -q
expect "is named" grep -q 'frame 3' said

expect "help" bash -c "'$program' --help | grep -q 'undine texture CACHE'"
expect "texture --help" code 0 "$program" texture --help

echo "1..$count"
[ $failures = 0 ]
