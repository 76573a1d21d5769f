// shape.h: what classes of the library look like: rows of shapes.def, and the components of a model that have them.
#ifndef MDLC_FRONTEND_MOTION_SHAPE_H
#define MDLC_FRONTEND_MOTION_SHAPE_H

#include "frontend/motion/motion.h"

// What is drawn, in axes of its own. "Reaches" means: from the origin along x, over a length that may change.
#define MOTION_FORMS(F) \
    F(LINK, "link")       /* a flat bar with round ends that reaches; w wide, h thick */ \
    F(BOX, "box")         /* reaches; w wide, h high */ \
    F(ROD, "rod")         /* a round bar of diameter w that reaches */ \
    F(COIL, "coil")       /* a spring of diameter w that reaches */ \
    F(STRUT, "strut")     /* a cylinder with a piston of diameter w that reaches */ \
    F(BALL, "ball")       /* of diameter w about the origin */ \
    F(PIN, "pin")         /* a cylinder about z of diameter w and height h, around the origin */ \
    F(BLOCK, "block")     /* a box around the origin, w wide, h high */ \
    F(WHEEL, "wheel")     /* about z, of diameter w and thickness h */ \
    F(GEAR, "gear")       /* the same with teeth */ \
    F(RING, "ring")       /* the same with teeth inside */ \
    F(SUPPORT, "support") /* a cone with its tip at the origin that reaches */ \
    F(PLATE, "plate")     /* a block that one may look through */ \
    F(RAIL, "rail")       /* a thin box around the origin */ \
    F(ARROW, "arrow")     /* reaches; w thick */ \
    F(TURN, "turn")       /* an arc with an arrow about z, whose diameter is the length */ \
    F(TRACE, "trace")     /* a line through places in the world */ \
    F(CHAIN, "chain")     /* an elastic body: becomes rods between its nodes */ \
    F(MESH, "mesh")       /* triangles of a file */

typedef enum Form {
#define FORM(id, name) FORM_##id,
    MOTION_FORMS(FORM)
#undef FORM
    FORM_COUNT
} Form;

// What it is for, which chooses its colour and with what it is shown and hidden.
typedef enum Role { ROLE_BODY, ROLE_JOINT, ROLE_SPRING, ROLE_DAMPER, ROLE_GROUND, ROLE_FORCE, ROLE_REACTION } Role;

// One thing that is drawn of a class. Frames, vectors and scalars are names of members of the class; vectors have two elements in the
// plane. NULL: there is none.
typedef struct ShapeRow {
    const char *class_name; // classes that extend it look the same
    Form form;
    Role role;
    const char *frame;      // whose pose it takes
    const char *offset;     // in that frame's axes: from its point to the origin of the form
    const char *away;       // the same in the world's axes,
    const char *times;      // times this
    double sign;            // and times this, where it is not 0
    const char *to;         // a frame that the form reaches,
    const char *along;      // or a vector in the axes of `frame` along which it does
    const char *axis;       // in the axes of `frame`: the form's z, or of what slides its x; z where there is none
    const char *side;       // in the axes of `frame`: the width of a box
    const char *slide;      // displacement along the axis: a rail is as long as this is wide
    const char *spin;       // an angle by which it is turned about its z, too
    const char *cut;        // a frame: the arrow is the force that what is connected there receives
    const char *radius, *diameter, *width, *height; // sizes in metres
    const char *inner;      // radius of a gear that meshes with this one; where it is negative this one is a ring around it
    const char *mass;       // from which a size follows where no other is given
    const char *inertia;    // "I" for I_11, I_22, I_33: a block of this inertia
    const char *skip;       // a vector: without length, nothing is drawn
    bool whole;             // components inside are not drawn
    bool rigid;             // `frame` and `to` are of one body
} ShapeRow;

// A class that has no rows, and why.
typedef struct ShapelessRow {
    const char *class_name, *reason;
    bool rigid;             // its frames are of one body
} ShapelessRow;

typedef struct Shape {
    const ShapeRow *row;    // NULL: a mesh of the user
    uint32_t inst;
    const char *path;       // "": the model itself
    const char *class_name; // as the model has it
    uint32_t body;          // rigid bodies are numbered in the order of the model; UINT32_MAX: the ground's
} Shape;
typedef VEC(Shape) Shapes;

// The components that have shapes, in the order of the model, what is inside of others included unless a row says `whole`. Strings
// live in dae->arena.
void shapes_find(Dae *dae, Program *program, Shapes *shapes);

#endif
