// solid.h: what the files of this room share: where numbers come from, and solids with their poses.
#ifndef MDLC_FRONTEND_MOTION_SOLID_H
#define MDLC_FRONTEND_MOTION_SOLID_H

#include "frontend/motion/shape.h"
#include "frontend/motion/vector.h"

// A number that is known, or a column of the result.
typedef struct Scalar {
    uint32_t column; // NONE: `value`
    double value;
} Scalar;

typedef struct Triple { // a vector of the model; two elements in the plane
    Scalar at[3];
    bool given;
} Triple;

typedef struct Frame {
    Scalar point[3], turn[9]; // turn: rows of the matrix that takes components to the frame; in the plane the first is the angle
    Scalar force[3], torque[3];
    bool given, planar;
} Frame;

// A shape whose members are found.
typedef struct Piece {
    Shape shape;
    Frame frame, to, cut;
    Triple offset, away, along, axis, side, skip;
    Scalar times, slide, spin;
    bool slides, spins;
    Scalar radius, inner, width, height, mass, inertia[3]; // NAN: not given; a diameter is given as its half
    U32Vec nodes;        // of a chain: pairs of nodes that a rod joins
    VEC(Triple) node;     // two per node, whose sum it is, in the axes of `frame`
    bool line;           // the first of them is a part of `length`
    Scalar length;
    const struct Mesh *mesh;
} Piece;

typedef struct Mesh { // of a file, in metres
    VEC(float) at;    // nine numbers for each triangle
} Mesh;

enum { POSE_X, POSE_Y, POSE_Z, POSE_Q, POSE_LENGTH = POSE_Q + 4, POSE_COUNT }; // Q: {x, y, z, w}

typedef struct Solid {
    const char *name, *class_name;
    Form form;
    Role role;
    uint32_t body;             // UINT32_MAX: the ground's
    double width, height;
    double *pose[POSE_COUNT];  // each one number per frame
    VEC(Vec) trace;
    const Mesh *mesh;
} Solid;

struct Motion {
    Arena *arena;
    Dae *dae;                  // NULL: the result alone is known
    const Table *table;
    VEC(Piece) pieces;
    VEC(Mesh *) meshes;
    Map column_of;             // hash of a name -> column of the table
    Map parameter_of;          // hash of a name -> variable of the model
    Scalar down[3];            // the direction of free fall,
    bool falls;                // when the model says one
    Out missing;
    uint32_t n_missing;
    // after motion_sample
    uint32_t frames;
    double *time;              // per frame
    uint32_t *row;             // per frame: the row at or before it,
    double *part;              // and the part of the way to the next
    bool planar;
    Vec up;                    // against gravity
    Vec low, high;             // of all places at all times
    Vec *middle;               // per frame
    double size;               // of the mechanism: the median over time of the diagonal of the box around its places
    double unit;               // of parts whose size nothing says: joints, thicknesses
    Map wheel_of;              // rigid body -> piece that is a wheel or gear
    double heaviest;           // of all masses
    double newtons;            // force of the longest arrow; 0: there are none
    VEC(Solid) solids;
};

// Value of a scalar at a frame; 0 for what is not finite.
double scalar_at(const Motion *motion, Scalar scalar, uint32_t frame);
Vec triple_at(const Motion *motion, const Triple *place, uint32_t frame);
Vec frame_point(const Motion *motion, const Frame *frame, uint32_t at);
Axes frame_axes(const Motion *motion, const Frame *frame, uint32_t at);

// sizes.c: sizes for what the model gives none, once places are known.
void motion_measure(Motion *motion);
double motion_least(double value, double low, double high); // clamped
// unnamed.c: components of a result without a model, and what they are once their places are known.
void shapes_guess(Motion *motion, Shapes *shapes);
void motion_guess(Motion *motion);
// stl.c: triangles of an STL file, binary or text. False with a line in `why`.
bool mesh_read(const char *path, Mesh *mesh, Out *why);
void mesh_free(Mesh **mesh);

// faces.c: the surface of a solid at a frame, for pictures without a graphics card.
typedef struct Face {
    Vec at[14];
    uint32_t n;
    Vec normal;   // outward; of lines and discs {0, 0, 0}
    double thick; // of a line through these places, or a disc of that diameter when n is 1; 0: an area
    bool pale;    // one may look through it
} Face;
typedef VEC(Face) Faces;
// `thin`: the diameter up to which a rod is a line.
void solid_faces(const Solid *solid, uint32_t frame, Vec eye, double thin, Faces *faces);

#endif
