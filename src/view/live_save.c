/* Saving a moment of a scene that runs. */
#include "view/live_state.h"

void und_live_write_scene(und_live *live, const char *path)
{
    und_live_note(live, "%s cannot be written: scenes are not saved yet", path);
}

void und_live_write_checkpoint(und_live *live, const char *folder)
{
    und_live_note(live, "%s cannot be written: checkpoints are not saved yet", folder);
}
