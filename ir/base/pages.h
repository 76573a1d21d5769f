// pages.h: pages of new memory, made ready by a second processor.
//
// The first touch of a page costs a fault, in which the system clears it: together an eighth of the time of a model with a
// million components. A thread that walks ahead of the heap's end takes the faults instead. It changes nothing but time.
#ifndef MDLC_IR_BASE_PAGES_H
#define MDLC_IR_BASE_PAGES_H

typedef struct Pages Pages;

// Begins to make the heap's pages ready, from its present end on. NULL where that is not to be had: with one processor, without
// another thread or without the system's call for it; nothing else changes then. The memory ready in advance is bounded (32 MB).
// For processes that called base_keep_memory and will take hundreds of megabytes.
Pages *pages_begin(void);
// Ends the thread and clears the caller's pointer; NULL is allowed.
void pages_end(Pages **pages);

#endif
