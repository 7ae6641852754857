#include "grid/mac.h"

enum { EIGHTS = 8 };

und_mac und_mac_make(const int n[3], const double d[3], const double origin[3])
{
    und_mac m = {0};
    for (int a = 0; a < 3; a++) {
        m.n[a] = n[a];
        m.d[a] = d[a];
        m.origin[a] = origin[a];
    }
    m.step[0] = 1;
    m.step[1] = (n[0] + 2 + EIGHTS - 1) / EIGHTS * EIGHTS;
    m.step[2] = m.step[1] * (n[1] + 2);
    m.first = (size_t)(m.step[2] + m.step[1] + EIGHTS);
    m.count = m.first + (size_t)(m.step[2] * (n[2] + 1)) + EIGHTS;
    return m;
}
