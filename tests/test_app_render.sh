#!/usr/bin/env bash
# tests/test_app_render.sh PROGRAM: ray-traced pictures of a cache: the same from one thread or two, one process
# or two, stopped or not.  Prints TAP.
. "$(dirname "$0")/app.sh"

same() { cmp -s "$1" "$2"; }
# alike FOLDER FOLDER: the same pictures, and some.
alike()
{
    local file count=0
    for file in "$1"/stills/*.png; do
        cmp -s "$file" "$2/stills/${file##*/}" || return 1
        count=$((count + 1))
    done
    [ $count -gt 0 ]
}
pictures() { find "$1" -name "*.$2" 2>/dev/null | wc -l; }
left_over() { find "$1" \( -name '*.tmp' -o -name '*.lock' \) | wc -l; }

# a shore that gets wet and stays so: pictures of later frames depend on earlier ones
cat >shore.lua <<'SCENE'
scene { name = "shore", frames = 6, fps = 24 }
liquid.waves {
  size = {2, 2}, cells = 32,
  ground = function(x, z) return 0.2 * x end,
  surface = function(x, z) return x < 0.6 and 0.3 or 0.1 end,
}
camera { eye = {1, 1.5, 4}, look = {1, 0.2, 1} }
film { width = 64, height = 36 }
SCENE
cat >dam.lua <<'SCENE'
scene { name = "dam", frames = 3, fps = 24 }
liquid.levelset { size = {1, 1, 1}, cells = 24, fill = box { max = {0.4, 0.6, 1} } }
film { width = 64, height = 36 }
SCENE
expect "sim of a shore" code 0 "$program" sim shore.lua -q
expect "sim of a dam" code 0 "$program" sim dam.lua -q
noise=(--noise 0.2)

# the default: every frame, then the movie
expect "render" code 0 "$program" render out/shore "${noise[@]}"
expect "six pictures" test "$(pictures out/shore/review png)" = 6
expect "a line for each, with the time left" test "$(grep -cE '^render frame [0-9]+ of 6, [0-9.]+ s, [0-9]+ s left' said)" = 6
expect "the movie" test -s out/shore/review/shore.mp4
expect "nothing else" test "$(left_over out/shore)" = 0

# what is there is kept
touch -d '2001-01-01' out/shore/review/stills/*.png
rm out/shore/review/stills/shore.0004.png
expect "render again" code 0 "$program" render out/shore "${noise[@]}"
expect "draws what was missing" test "$(find out/shore/review/stills -newermt 2002-01-01 | grep -c png)" = 1
expect "keeps the others, and says so" grep -q '^kept   5' said
expect "--overwrite" code 0 "$program" render out/shore "${noise[@]}" --overwrite -q
expect "draws all again" test "$(find out/shore/review/stills -newermt 2002-01-01 -name '*.png' | wc -l)" = 6
expect "pictures of another size" code 2 "$program" render out/shore "${noise[@]}" --size 32x18
expect "are not mixed with these" grep -q 'made otherwise (review, 64 x 36 pixels' said

# a frame alone is the frame of the sequence, with one thread or two
expect "one frame, one thread" code 0 "$program" render out/shore -s 5 -e 5 --png --exr "${noise[@]}" -j 1 -o one
expect "another, two threads" code 0 "$program" render out/shore -s 5 -e 5 --png --exr "${noise[@]}" -j 2 -o two
expect "the same picture" same one/stills/shore.0005.png two/stills/shore.0005.png
expect "the same layers" same one/exr/shore.0005.exr two/exr/shore.0005.exr
expect "the picture of the sequence" same one/stills/shore.0005.png out/shore/review/stills/shore.0005.png

# the look of another scene, of the same liquid
sed 's/eye = {1, 1.5, 4}/eye = {2, 1.5, 4}/' shore.lua >moved.lua
expect "--look" code 0 "$program" render out/shore --look moved.lua -s 5 -e 5 --png "${noise[@]}" -o look -q
expect "is another picture" test -s look/stills/shore.0005.png -a "$(same one/stills/shore.0005.png look/stills/shore.0005.png; echo $?)" = 1
expect "not among the others" code 2 "$program" render out/shore --look moved.lua -s 6 -e 6 --png "${noise[@]}" -o one
expect "of another liquid" code 2 "$program" render out/shore --look dam.lua -o look
expect "is explained" grep -q 'dam.lua has liquid.levelset, and out/shore was made with liquid.waves' said

# two processes on one folder, then two on halves of it
"$program" render out/shore "${noise[@]}" -j 1 -o shared -q &
first=$!
"$program" render out/shore "${noise[@]}" -j 1 -o shared -q
second=$?
wait $first
expect "two at once" test $?$second = 00
expect "draw all" alike out/shore/review shared
expect "and no more than all" test "$(pictures shared png)$(left_over shared)" = 60
expect "the last makes the movie" same shared/shore.mp4 out/shore/review/shore.mp4
"$program" render out/shore -s 4 -e 6 "${noise[@]}" -j 1 -o halves -q &
first=$!
"$program" render out/shore -s 1 -e 3 "${noise[@]}" -j 1 -o halves -q
wait $first
expect "halves" alike out/shore/review halves
expect "a whole movie of them" same halves/shore.mp4 out/shore/review/shore.mp4

# a claim of a living process is left alone, one of a dead process is taken over
mkdir claims
echo "$(hostname) $$" >claims/shore.0002.lock
bash -c "echo \$(hostname) \$\$" >claims/shore.0003.lock
expect "render beside claims" code 0 "$program" render out/shore -s 1 -e 3 --png --movie "${noise[@]}" -o claims
expect "leaves one" test ! -e claims/stills/shore.0002.png
expect "and says so" grep -q '^left   1' said
expect "and that the movie waits" grep -q '^movie  waits for 1' said
expect "takes the other over" test -s claims/stills/shore.0003.png

# Ctrl-C within a frame, which would take an hour: no half file
begin "$program" render out/dam --png --noise 0.0001 --size 1280x720 -o stopped
await test -e stopped/dam.0001.lock
kill -INT $run
wait $run
expect "a stopped render exits with 130" test $? = 130
expect "and leaves nothing" test "$(pictures stopped png)$(left_over stopped)" = 00

# qualities
expect "--preview" code 0 "$program" render out/dam --preview -q
expect "goes to the cache's folder" test "$(pictures out/dam/stills png)" = 3
expect "a quality that is none" code 2 "$program" render out/dam --quality better
expect "run at review quality" code 0 "$program" run dam.lua --quality review "${noise[@]}" -o run -q
expect "makes pictures and the movie" test "$(pictures run/review png)$(ls run/review/dam.mp4)" = 3run/review/dam.mp4
"$program" render run "${noise[@]}" -o again -q
expect "the same as from the cache" alike run/review again

echo "1..$count"
[ $failures = 0 ]
