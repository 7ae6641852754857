-- Letters of water: ropes of water rise from a pool, write a word, hold it for a second within a cell, and fall.
--
-- A letter is some strokes.  Along each a row of control particles lies at the cue; before it they come out of the pool one
-- behind the other and run along the stroke, each with the water around it under hard control.  For the second of the hold
-- the level set's particles, one a cell all over the letters, lead the surface to the strokes' round sides.  Then all let go.
--
--   --set word=SEA      writes another word (A to Z); `undine info` tells how far the surface is from it in each frame

local word = param("word", "UNDINE")
local high, stroke = 0.6, 0.06             -- of a letter, and the radius of its strokes, m
local gap, side, deep = 0.1, 0.3, 0.75     -- between letters, beside the word, front to back
local pool, base = 0.27, 0.5               -- heights of the water and of the letters' feet
-- When the ropes set out, when all are in their places, when their surface is tight, the cue from which the word is held
-- and the last bits have fallen off, and when it is let go, s.
local rise, there, tight, cue = 0.2, 1.6, 1.75, 1.87
local let_go = cue + 1.09

-- Strokes in parts of a letter's height, each from where its water comes in; those of `via` lead there and are not drawn.
-- Corners are as round as `soft` says, or as a third number does.
local L, M, R = 0, 0.3, 0.6 -- left, middle and right
local glyphs = {
  A = { {{L,0},{M,1},{R,0}}, {via = {{L,0}}, {0.12,0.4},{0.48,0.4}} },
  B = { {{L,0},{L,1,0.05},{R,1},{R,0.52},{L,0.52}}, {{L,0},{R,0},{R,0.52}} },
  C = { {{M,0},{R,0},{R,0.22}}, {{M,0},{L,0},{L,1},{R,1},{R,0.78}} },
  D = { {{L,0},{L,1,0.05},{R,1},{R,0.5}}, {{L,0},{R,0},{R,0.5}} },
  E = { {{L,0},{L,1},{0.55,1}}, {{L,0},{0.55,0}}, {via = {{L,0}}, {L,0.5},{0.5,0.5}} },
  F = { {{L,0},{L,1},{0.55,1}}, {via = {{L,0}}, {L,0.5},{0.5,0.5}} },
  G = { {{M,0},{L,0},{L,1},{R,1},{R,0.8}}, {{M,0},{R,0},{R,0.45},{M,0.45}} },
  H = { {{L,0},{L,1}}, {{R,0},{R,1}}, {via = {{L,0}}, {L,0.5},{R,0.5}} },
  I = { {{0,0},{0,1}} },
  J = { {{M,0},{L,0},{L,0.25}}, {{M,0},{R,0},{R,1}} },
  K = { {{L,0},{L,1}}, {via = {{L,0}}, {L,0.45},{R,1}}, {{R,0},{0.2,0.6}} },
  L = { {{L,0},{L,1}}, {{L,0},{0.55,0}} },
  M = { {{L,0},{L,1},{0.35,0.35},{0.7,1},{0.7,0}} },
  N = { {{L,0},{L,1},{R,0},{R,1}} },
  O = { {{M,0},{L,0},{L,1},{M,1}}, {{M,0},{R,0},{R,1},{M,1}} },
  P = { {{L,0},{L,1,0.05},{R,1},{R,0.45},{L,0.45}} },
  Q = { {{M,0},{L,0},{L,1},{M,1}}, {{M,0},{R,0},{R,1},{M,1}}, {{0.65,-0.05},{0.4,0.25}} },
  R = { {{L,0},{L,1,0.05},{R,1},{R,0.48},{L,0.48}}, {{R,0},{M,0.48}} },
  S = { {{L,0},{R,0},{R,0.5},{L,0.5},{L,1},{R,1}} },
  T = { {{M,0},{M,1},{L,1}}, {via = {{M,0}}, {M,1},{R,1}} },
  U = { {{M,0},{L,0},{L,1}}, {{M,0},{R,0},{R,1}} },
  V = { {{M,0},{L,1}}, {{M,0},{R,1}} },
  W = { {{0.2,0},{L,1}}, {{0.2,0},{0.4,0.7},{0.6,0},{0.8,1}} },
  X = { {{L,0},{R,1}}, {{R,0},{L,1}} },
  Y = { {{M,0},{M,0.5},{L,1}}, {via = {{M,0}}, {M,0.5},{R,1}} },
  Z = { {{L,0},{R,0}}, {{L,0},{R,1},{L,1}} },
}
local soft = { B = 0.22, C = 0.25, D = 0.28, G = 0.25, J = 0.25, O = 0.28, P = 0.25, Q = 0.28, R = 0.25, S = 0.22, U = 0.28 }

-- ---- Curves in the plane of the letters ----

local function mix(a, b, s) return {a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])} end
local function apart(a, b) return math.sqrt((a[1] - b[1])^2 + (a[2] - b[2])^2) end

-- Corners become arcs (of parabolas) that begin `bend` before them, or as far as they say themselves.
local function rounded(points, same)
  local out = { points[1] }
  for i = 2, #points - 1 do
    local a, b, c = points[i - 1], points[i], points[i + 1]
    local before, after, bend = apart(a, b), apart(b, c), b[3] or same
    local p, q = mix(b, a, math.min(bend, before / 2) / before), mix(b, c, math.min(bend, after / 2) / after)
    for k = 0, 8 do
      out[#out + 1] = mix(mix(p, b, k / 8), mix(b, q, k / 8), k / 8)
    end
  end
  out[#out + 1] = points[#points]
  return out
end

-- A function of the way along a curve, and how long that is.
local function along(points)
  local way = { 0 }
  for i = 2, #points do way[i] = way[i - 1] + apart(points[i - 1], points[i]) end
  return function(s)
    local i = 2
    while i < #points and s > way[i] do i = i + 1 end
    return mix(points[i - 1], points[i], (s - way[i - 1]) / math.max(way[i] - way[i - 1], 1e-9))
  end, way[#points]
end

-- ---- The word ----

local ropes = {}  -- { letter = its number, at = function(way), from = where the letter begins on it, to = where it ends }
local width = side
for i = 1, #word do
  local name = string.upper(string.sub(word, i, i))
  local glyph, right = assert(glyphs[name], "no letter " .. name), 0
  width = width + (i > 1 and gap or 0) + stroke
  local function place(p) return {width + high * p[1], base + high * p[2], p[3] and high * p[3]} end
  for _, line in ipairs(glyph) do
    local points, lead = {}, {}
    for _, p in ipairs(line) do
      points[#points + 1] = place(p)
      right = math.max(right, high * p[1])
    end
    points = rounded(points, high * (soft[name] or 0.06))
    local foot = line.via and place(line.via[1]) or points[1]
    lead[1] = {foot[1], pool - 2.5 * stroke}           -- in the pool, under where it comes out
    if line.via then lead[2] = foot end
    lead[#lead + 1] = points[1]
    local _, before = along(lead)
    for k = 2, #points do lead[#lead + 1] = points[k] end
    local at, all = along(lead)
    ropes[#ropes + 1] = { letter = i, at = at, from = before, to = all }
  end
  width = width + right + stroke
end
width = width + side

local size = {width, base + high + stroke + 0.25, deep}
local cells = param("cells", math.floor(width * 5 / (2 * stroke)))  -- a stroke is five of them thick
local cell = math.max(size[1], size[2]) / cells
local z = deep / 2

-- ---- What moves the water: one row of particles along each stroke ----

local control = {}
local longest = 0
for _, r in ipairs(ropes) do longest = math.max(longest, r.to) end
-- How far everything is from its place: from `longest` at `rise` down to 0, gently at both ends.
local function to_go(t)
  local s = math.min(math.max((t - rise) / (there - rise), 0), 1)
  return longest * (1 - s * s * (3 - 2 * s))
end

for _, r in ipairs(ropes) do
  local n = math.ceil((r.to - r.from) / (0.6 * stroke))
  for i = 0, n do
    local last, keys = r.from + (r.to - r.from) * i / n, {}
    for frame = 0, math.ceil(there * 24) do
      local t = math.min(frame / 24, there)
      local way = last - to_go(t)
      if way >= 0 then
        local p = r.at(way)
        keys[#keys + 1] = { time = t, at = {p[1], p[2], z}, radius = 0.85 * stroke }  -- it drags some more along
      end
    end
    keys[#keys + 1] = { time = tight, at = keys[#keys].at, radius = stroke + 0.5 * cell }
    control[#control + 1] = { kind = "velocity", keys = keys, start = keys[1].time, stop = let_go }
    -- No bubble stays in a letter.
    control[#control + 1] = { kind = "adder", at = keys[#keys].at, radius = 0.7 * stroke, start = there, stop = let_go }
  end
end

-- The ropes are cut off under the letters; jets that shoot up from the pool where they were come no nearer.
for _, r in ipairs(ropes) do
  control[#control + 1] = { kind = "eraser", at = {r.at(0)[1], base - 2 * stroke - 0.05, z}, radius = 0.05, start = there, stop = let_go }
end

-- ---- What shapes it: particles all over the letters' surface ----

-- How far a point is outside the strokes of a letter.
local middles = {}
for i = 1, #word do middles[i] = {} end
for _, r in ipairs(ropes) do
  local n, list = math.ceil((r.to - r.from) / (0.5 * cell)), middles[r.letter]
  for i = 0, n do list[#list + 1] = r.at(r.from + (r.to - r.from) * i / n) end
end
local function outside(letter, x, y, dz)
  local least = 1e9
  for _, p in ipairs(middles[letter]) do least = math.min(least, (x - p[1])^2 + (y - p[2])^2) end
  return math.sqrt(least + dz * dz) - stroke
end

-- One that draws the surface tight before the cue, and keeps it there.
local function shape(letter, middle, normal)
  local x, y, dz = middle[1] + stroke * normal[1], middle[2] + stroke * normal[2], stroke * normal[3]
  if outside(letter, x, y, dz) > -0.1 * cell then
    local at = {x, y, z + dz}
    control[#control + 1] = { kind = "level_set", normal = normal, radius = 1.2 * cell, length = 2 * stroke,
                              start = there, stop = let_go,
                              keys = { { time = there, at = at, strength = 0.05 }, { time = tight - 1 / 24, at = at, strength = 1 } } }
  end
end

-- Rings around a stroke, a cell apart on its outside, and half balls at both its ends.
local around = math.ceil(2 * math.pi * stroke / cell)
local function ring(letter, p, t, out)  -- of the direction t, leaning out of it by the angle `out`
  local n, c, f = math.max(math.floor(around * math.cos(out) + 0.5), 1), math.cos(out), math.sin(out)
  for k = 1, n do
    local angle = 2 * math.pi * k / n
    local up, front = c * math.cos(angle), c * math.sin(angle)
    shape(letter, p, {f * t[1] - up * t[2], f * t[2] + up * t[1], front})
  end
end

for _, r in ipairs(ropes) do
  local fine, gone, last = 0.1 * cell, cell, nil
  local n = math.ceil((r.to - r.from) / fine)
  for i = 0, n do
    local s = r.from + (r.to - r.from) * i / n
    local a, b = r.at(math.max(s - fine, r.from)), r.at(math.min(s + fine, r.to))
    local l = apart(a, b)
    local t = {(b[1] - a[1]) / l, (b[2] - a[2]) / l}
    gone = gone + fine + (last and stroke * math.sqrt((t[1] - last[1])^2 + (t[2] - last[2])^2) or 0)
    last = t
    if gone >= cell or i == n then
      ring(r.letter, r.at(s), t, 0)
      gone = 0
    end
    for k = 1, (i == 0 or i == n) and around // 4 or 0 do
      ring(r.letter, r.at(s), t, (i == 0 and -2 or 2) * math.pi * k / around)
    end
  end
end

scene { name = "letters", frames = 96, fps = 24 }

liquid.levelset { size = size, cells = cells, level = pool, control = control }

local away = math.max(1.12 * width, 1.7 * size[2])
camera { eye = {0.57 * width, base, z + away}, look = {0.5 * width, 0.47 * size[2], z}, fov = 32 }
light { sun = {-0.5, 0.6, 0.45} }
ground { color = {0.16, 0.17, 0.18}, texture = 0.4 }
water { color = {0.01, 0.13, 0.24}, absorption = {11, 3.2, 1.6} }
film { width = 1280, height = 720 }
