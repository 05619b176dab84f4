// Places in the sequence space count modulo 2^17: number and era in one (LG-1, LG-2).

#ifndef LINKGUARDIAN_POSITION_P4
#define LINKGUARDIAN_POSITION_P4

#include "headers.p4"

// How far the two ends of anything may lie apart (LG-33).
const position_t WINDOW = 32768;

// LG-2: the sign of a difference of 17 bits. It is exact below 2^16 steps, twice the published distance.
#define IS_BEHIND(ahead) ((ahead)[16:16] == 1)
#define IS_AHEAD(ahead) ((ahead) != 0 && (ahead)[16:16] == 0)

// LG-10: marked positions. A mark holds the position itself, era included, so that one left behind is not taken for
// that of the frame with the same number. Marks that lie MARKS apart share a place; what is under way is far less.
const bit<32> MARKS = 4096;
typedef bit<18> mark_t;
#define MARK_OF(position) (1w1 ++ (position))
#define PLACE_OF(position) ((bit<32>)(position)[11:0])

#endif
