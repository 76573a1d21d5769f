// motion.h: the door of frontend/motion: what a mechanism looks like while it moves.
//
// In: the flat model, which says which components there are, and a result, which says where they went.
// Out: solids with a pose for every frame, as the data of a page (frontend/page/motion.js plays it) and as a strip of poses in SVG.
// Read first: shapes.def, which says of every mechanical class of the library what it looks like; then solids.c.
#ifndef MDLC_FRONTEND_MOTION_MOTION_H
#define MDLC_FRONTEND_MOTION_MOTION_H

#include "frontend/names/names.h"
#include "ir/dae/dae.h"
#include "runtime/result/table.h"

typedef struct Motion Motion;

// A mesh that is drawn at a frame of a component: --stl COMPONENT=FILE, lengths in metres.
typedef struct MotionMesh {
    const char *component, *file;
} MotionMesh;

typedef struct MotionInput {
    Dae *dae;                // compiled with names; NULL: what there is is guessed from the names and the motion of the result
    Program *program;        // in which base classes of the model's classes are found; NULL: those of the library alone are known
    const Table *table;      // its result, of which no columns need be loaded yet
    const MotionMesh *meshes;
    uint32_t n_meshes;
    bool reactions;          // forces of joints on their second body are arrows, too
    bool partial;            // components of which the result lacks variables are left out instead of being an error
} MotionInput;

typedef enum MotionStatus {
    MOTION_FINE,
    MOTION_NONE,    // no component of the model is mechanical
    MOTION_LACKING, // the result lacks variables
    MOTION_FILE     // a mesh cannot be read
} MotionStatus;

// Finds the shapes of the model's components and the columns that their poses follow from. What is wrong is a line, or several, in
// `why`; then *motion is NULL. Linear in the components.
MotionStatus motion_plan(const MotionInput *input, Motion **motion, Out *why);
// Marks these columns.
void motion_want(const Motion *motion, bool *wanted);
// Computes the poses; the columns are loaded. A result of more rows than a page should have is sampled at equal distances in time.
void motion_sample(Motion *motion);
// Columns worth a plot beside the picture: of lengths, forces, gaps, angles. At most n; gives their number.
uint32_t motion_columns(const Motion *motion, uint32_t *column, uint32_t n);
void motion_free(Motion **motion);

// The data of the page, JSON without '<' (scene.c says what is in it). `title` names the model.
void motion_print(const Motion *motion, Out *out);
// So many poses at equal distances in time, side by side, as an SVG element without script and style, which is legible on white.
enum { MOTION_POSES = 6, MOTION_FEW_POSES = 3 };
void motion_strip(const Motion *motion, const char *title, uint32_t poses, Out *out);

#endif
