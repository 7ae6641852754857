/* Caches are files of HDF5, and not every build of that library lets two threads into it at once.  The viewer
 * has several that read and write (players, a live scene that is saved, the editor): whoever calls
 * und_cache_* from src/view holds this meanwhile. */
#ifndef UND_VIEW_DISK_H
#define UND_VIEW_DISK_H

void und_disk_lock(void);
void und_disk_unlock(void);

#endif
