// A link that corrupts: a 20-bit uniform number against a threshold, for every frame that is exposed to it.
//
// Source of the draw: the published LinkGuardian program. 1e-3 becomes 1048 of 2^20 values.

#ifndef COMMON_CORRUPTION_P4
#define COMMON_CORRUPTION_P4

const bit<20> CORRUPTION_DRAW_MAX = 0xFFFFF;

control Corruption(in bool is_exposed, out bit<1> is_lost) {
    bit<20> threshold;
    bit<20> draw;
    // Counter 0: frames that were exposed, corrupted ones included; counter 1: corrupted ones.
    counter(2, CounterType.packets) frames;

    action corrupt_below(bit<20> value) {
        threshold = value;
    }

    table loss {
        actions = { corrupt_below; }
        default_action = corrupt_below(0);
    }

    apply {
        is_lost = 0;
        if (is_exposed) {
            frames.count(0);
            loss.apply();
            random<bit<20>>(draw, 0, CORRUPTION_DRAW_MAX);
            if (draw < threshold) {
                is_lost = 1;
                frames.count(1);
            }
        }
    }
}

#endif
