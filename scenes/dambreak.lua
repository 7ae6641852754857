-- The dam break of `undine bench dambreak`.
--
-- A cube of 1 m with closed walls, in it a block of water 0.4 m long and 0.6 m high over its full depth.

scene { name = "dambreak", frames = 72, fps = 24 }

local cells = param("cells", 64)

liquid.levelset {
  size = {1, 1, 1}, cells = cells,
  fill = box { max = {0.4, 0.6, 1} },
}

camera { eye = {2.15, 1.35, 2.7}, look = {0.5, 0.38, 0.5}, fov = 30 }
light { sun = {-0.35, 0.7, 0.5} }
ground { color = {0.34, 0.34, 0.35}, texture = 0.3 }
water { color = {0.02, 0.2, 0.3}, absorption = {7, 2, 1.2} }
film { width = 1280, height = 720 }
