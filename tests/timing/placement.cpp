// Moves the code that is linked after it by WARPSEAL_PLACEMENT bytes. Linked first.
__asm__(".text\n.skip " WARPSEAL_PLACEMENT);
