// instance.h: the door of frontend/instance: classes with modifiers become fragments with members.
//
// In: classes and modifications.
// Out: fragments (fragment.h): members with types, sizes, values; references to them; elaborated on demand, once per class where possible.
// Read first: fragment.h, then elaborate.c and declare.c.
// Also open to other rooms: fragment.h.
#ifndef MDLC_FRONTEND_INSTANCE_INSTANCE_H
#define MDLC_FRONTEND_INSTANCE_INSTANCE_H

#endif
