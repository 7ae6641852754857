#include <stdio.h>
#include <undine/undine.h>

int main(void)
{
    puts("undine");
    return UND_INVALID;
}
