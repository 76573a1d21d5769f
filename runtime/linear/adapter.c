// adapter.c: an empty SUNMatrix and a SUNLinearSolver whose work is done elsewhere.
//
// Purpose: SUNDIALS asks for a matrix and a solver object; the runtime keeps its own sparse matrix and
// factorisation (jacobian.c, lu.c), whose symbolic part must survive IDAReInit and CVodeReInit.
// Method: tables of functions as SUNDIALS documents them; what is not needed does nothing.
// Contract: the objects own nothing of the runtime's. Complexity: constant.
#include "runtime/linear/adapter.h"

static SUNMatrix_ID
matrix_id(SUNMatrix matrix)
{
    (void)matrix;
    return SUNMATRIX_CUSTOM;
}

static int
matrix_zero(SUNMatrix matrix)
{
    (void)matrix;
    return 0;
}

static void
matrix_destroy(SUNMatrix matrix)
{
    SUNMatFreeEmpty(matrix);
}

static SUNLinearSolver_Type
solver_type(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_DIRECT;
}

static SUNLinearSolver_ID
solver_id(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_CUSTOM;
}

static int
solver_free(SUNLinearSolver solver)
{
    SUNLinSolFreeEmpty(solver);
    return 0;
}

SUNMatrix
adapter_matrix(SUNContext context)
{
    SUNMatrix matrix = SUNMatNewEmpty(context);
    if (!matrix)
        return NULL;
    matrix->ops->getid = matrix_id;
    matrix->ops->zero = matrix_zero;
    matrix->ops->destroy = matrix_destroy;
    return matrix;
}

SUNLinearSolver
adapter_solver(SUNContext context, void *content, int (*initialize)(SUNLinearSolver),
               int (*setup)(SUNLinearSolver, SUNMatrix),
               int (*solve)(SUNLinearSolver, SUNMatrix, N_Vector, N_Vector, realtype))
{
    SUNLinearSolver solver = SUNLinSolNewEmpty(context);
    if (!solver)
        return NULL;
    solver->content = content;
    solver->ops->gettype = solver_type;
    solver->ops->getid = solver_id;
    solver->ops->initialize = initialize;
    solver->ops->setup = setup;
    solver->ops->solve = solve;
    solver->ops->free = solver_free;
    return solver;
}
