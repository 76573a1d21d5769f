// 12.9: LAPACK's subroutines for linear equations, declared as the standard library does, come with mdlc.
// expect: x = {1, -2, 3} within 1e-14
// expect: y = {1, -2, 3} within 1e-14
// expect: det = -15 within 1e-13
// expect: inverse = {-2, 1, 1.5, -0.5} within 1e-14
// expect: singular = 2
package P
  function dgesv
    input Real A[:, size(A, 1)];
    input Real b[size(A, 1)];
    output Real x[size(A, 1)] = b;
    output Integer info;
  protected
    Integer n = size(A, 1);
    Integer nrhs = 1;
    Real Awork[size(A, 1), size(A, 1)] = A;
    Integer lda = max(1, size(A, 1));
    Integer ipiv[size(A, 1)];
    external "FORTRAN 77" dgesv(n, nrhs, Awork, lda, ipiv, x, lda, info) annotation(Library = "lapack");
  end dgesv;
  function dgetrf
    input Real A[:, :];
    output Real LU[size(A, 1), size(A, 2)] = A;
    output Integer pivots[min(size(A, 1), size(A, 2))];
    output Integer info;
  protected
    Integer m = size(A, 1), n = size(A, 2), lda = max(1, size(A, 1));
    external "FORTRAN 77" dgetrf(m, n, LU, lda, pivots, info) annotation(Library = "lapack");
  end dgetrf;
  function dgetrs
    input Real LU[:, size(LU, 1)];
    input Integer pivots[size(LU, 1)];
    input Real b[size(LU, 1)];
    output Real x[size(b, 1)] = b;
    output Integer info;
  protected
    Integer n = size(LU, 1), lda = max(1, size(LU, 1));
    external "FORTRAN 77" dgetrs("N", n, 1, LU, lda, pivots, x, lda, info) annotation(Library = "lapack");
  end dgetrs;
  function dgetri
    input Real LU[:, size(LU, 1)];
    input Integer pivots[size(LU, 1)];
    output Real inv[size(LU, 1), size(LU, 2)] = LU;
    output Integer info;
  protected
    Integer n = size(LU, 1), lda = max(1, size(LU, 1)), lwork = 10*n;
    Real work[10*size(LU, 1)];
    external "FORTRAN 77" dgetri(n, inv, lda, pivots, work, lwork, info) annotation(Library = "lapack");
  end dgetri;
  function solve
    input Real A[:, size(A, 1)];
    input Real b[size(A, 1)];
    output Real x[size(A, 1)];
    output Real det;
  protected
    Real LU[size(A, 1), size(A, 1)];
    Integer pivots[size(A, 1)], info;
  algorithm
    (LU, pivots, info) := dgetrf(A);
    x := dgetrs(LU, pivots, b);
    det := product(LU[i, i] for i in 1:size(A, 1))*product(if pivots[i] == i then 1 else -1 for i in 1:size(A, 1));
  end solve;
  function inv
    input Real A[:, size(A, 1)];
    output Real y[size(A, 1), size(A, 1)];
  protected
    Real LU[size(A, 1), size(A, 1)];
    Integer pivots[size(A, 1)];
  algorithm
    (LU, pivots) := dgetrf(A);
    y := dgetri(LU, pivots);
  end inv;
end P;
model M
  Real A[3, 3] = [0, 2 + s, 1; 4, 1, 0; -1, 2, 3];
  Real b[3] = {-1, 2, 4};
  Real s = if time < 2 then 0 else 1;
  Real x[3], y[3], det, inverse[4];
  Integer singular;
protected
  Real none[2], full[2, 2] = P.inv([1, 2; 3, 4]);
equation
  x = P.dgesv(A, b);
  (y, det) = P.solve(A, b);
  inverse = {full[1, 1], full[1, 2], full[2, 1], full[2, 2]};
  (none, singular) = P.dgesv([1, 2; 2, 4], {1, 1});
end M;
