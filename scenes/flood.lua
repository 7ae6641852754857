-- A flood runs through the streets of a town, 256 cells along.
--
-- A reservoir gives way at the left.  The wave breaks on the first houses, shoots through the streets between them and
-- up the walls behind, and all of it is one level set.  256 x 82 x 146 cells; --set cells=96 for a quick look.

scene { name = "flood", frames = 72, fps = 24 }

local cells = param("cells", 256)

-- Blocks of houses in rows, each of its own height; a tower stands in the square between them.
local town = { cylinder { center = {16.4, 2.75, 8}, radius = 1.1, height = 5.5 } }
for row = 0, 3 do
  for column = 0, 2 do
    local x, z = 9.5 + 5.2 * column, 0.6 + 4 * row
    if column ~= 1 or row == 0 or row == 3 then
      town[#town + 1] = box { min = {x, 0, z}, max = {x + 3.2, 1.3 + 1.9 * hash(row, column, 7), z + 2.8} }
    end
  end
end

liquid.levelset {
  size = {28, 9, 16}, cells = cells,
  fill = box { max = {6.5, 6.5, 16} },
  level = 0.3,
  solids = union(town),
  velocity = false,
}

camera { eye = {33, 13, 27}, look = {14.2, 1.6, 7.6}, fov = 31 }
light { sun = {0.35, 0.6, 0.5}, clouds = 0.3 }
ground { color = {0.2, 0.2, 0.2}, texture = 0.4 }
water { color = {0.02, 0.12, 0.15}, absorption = {0.6, 0.2, 0.14} }
film { width = 1280, height = 720 }
