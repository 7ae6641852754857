-- A rope of thick honey that coils where it lands (Rasmussen et al. 2004, 5.1).
--
-- All of the viscous stress is implicit and the surface bears none, so that the rope bends where it is pressed from below.  It
-- is 1.6 cm thick and falls 16 cm; nothing but rounding decides which way it turns first.

scene { name = "rope", frames = 120, fps = 24 }

local cells = param("cells", 84)

liquid.levelset {
  size = {0.12, 0.18, 0.12}, cells = cells, stick = true, spray = false,
  viscosity = 0.2, viscosity_solver = "coupled",
  sources = { { shape = cylinder { center = {0.06, 0.165, 0.06}, radius = 0.008, height = 0.03 },
                velocity = {0, -0.15, 0} } },
}

camera { eye = {0.2, 0.19, 0.34}, look = {0.06, 0.075, 0.06}, fov = 34 }
light { sun = {0.5, 0.6, 0.4} }
water { color = {0.45, 0.16, 0.01}, absorption = {8, 40, 160}, material = "honey" }
film { width = 960, height = 720 }
