-- A marble drops into a bowl of thick soup (Foster & Metaxas 1996, figures 7 and 9).
--
-- Two dimensions, 15 x 30 cells: the bowl's side is a series of steps, and a half round drop of soup at the left side
-- stands for the marble.  Chains of 150 and 50 markers follow the outlines, and turned about that side they are the
-- round surface that is drawn.  The drop has the marble's size, so that the soup stands as much higher in the end.

scene { name = "soup", frames = 90, fps = 60 }

liquid.cells {
  size = {0.075, 0.15, 0.005}, cells = {15, 30, 1},
  viscosity = 0.003,
  solids = difference { box { min = {0, 0, -1}, max = {0.075, 0.085, 1} },
                        sphere { center = {0, 0.082, 0.0025}, radius = 0.072 } },
  track = "chains",
  fill = { { shape = box { min = {0, 0, -1}, max = {0.075, 0.055, 1} }, chain = 150 },
           { shape = sphere { center = {0, 0.085, 0.0025}, radius = 0.015 }, velocity = {0, -0.2, 0}, chain = 50 } },
  revolve = { along = 2 },
}

camera { eye = {0.12, 0.24, 0.29}, look = {0, 0.05, 0}, fov = 31 }
film { width = 1280, height = 720 }
