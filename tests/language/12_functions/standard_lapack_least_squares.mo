// 12.9: Subroutines of LAPACK that the Modelica Standard Library declares come without --allow-external: least squares, special matrices.
// expect: a = {0.833333333333333, 1.5} within 1e-12
// expect: b = {0.833333333333333, 1.5} within 1e-12
// expect: rank = 2
// expect: c = {0.5, 0.5} within 1e-12
// expect: d = {1, 1, 1} within 1e-12
// expect: lu = {{3, 4}, {0.333333333333333, 0.666666666666667}} within 1e-12
// expect: pivots = {2, 2}
package Lapack
  function dgelsy
    input Real A[:, :], b[size(A, 1)], rcond = 0;
    output Real x[max(size(A, 1), size(A, 2))] = b;
    output Integer info, rank;
  protected
    Integer m = size(A, 1), n = size(A, 2), lwork = min(m, n) + 3*n + 1, jpvt[size(A, 2)] = zeros(n);
    Real work[min(size(A, 1), size(A, 2)) + 3*size(A, 2) + 1], copy[size(A, 1), size(A, 2)] = A;
    external "FORTRAN 77" dgelsy(m, n, 1, copy, m, x, m, jpvt, rcond, rank, work, lwork, info) annotation(Library = "lapack");
  end dgelsy;
  function dgels
    input Real A[:, :], b[size(A, 1)];
    output Real x[size(A, 1)] = b;
    output Integer info;
  protected
    Integer m = size(A, 1), n = size(A, 2);
    Real work[2*(size(A, 1) + size(A, 2))], copy[size(A, 1), size(A, 2)] = A;
    external "FORTRAN 77" dgels("N", m, n, 1, copy, m, x, m, work, size(work, 1), info) annotation(Library = "lapack");
  end dgels;
  function dgglse
    input Real A[:, :], c[size(A, 1)], B[:, size(A, 2)], d[size(B, 1)];
    output Real x[size(A, 2)];
    output Integer info;
  protected
    Integer m = size(A, 1), n = size(A, 2), p = size(B, 1);
    Real A1[size(A, 1), size(A, 2)] = A, B1[size(B, 1), size(A, 2)] = B, c1[size(c, 1)] = c, d1[size(d, 1)] = d, work[20];
    external "FORTRAN 77" dgglse(m, n, p, A1, m, B1, p, c1, d1, x, work, 20, info) annotation(Library = "lapack");
  end dgglse;
  function dgtsv
    input Real low[:], middle[:], high[:], b[size(middle, 1)];
    output Real x[size(middle, 1)] = b;
    output Integer info;
  protected
    Real low1[size(low, 1)] = low, middle1[size(middle, 1)] = middle, high1[size(high, 1)] = high;
    external "FORTRAN 77" dgtsv(size(middle, 1), 1, low1, middle1, high1, x, size(x, 1), info) annotation(Library = "lapack");
  end dgtsv;
  function dgesv "gives the factors, too"
    input Real A[:, size(A, 1)], b[size(A, 1)];
    output Real LU[size(A, 1), size(A, 1)] = A, x[size(A, 1)] = b;
    output Integer pivots[size(A, 1)], info;
    external "FORTRAN 77" dgesv(size(A, 1), 1, LU, size(A, 1), pivots, x, size(A, 1), info) annotation(Library = "lapack");
  end dgesv;
end Lapack;
model M
  parameter Real A[3, 2] = [1, 0; 1, 1; 1, 2];
  parameter Real x1[3](each fixed = false), x2[3] = Lapack.dgels(A, {1, 2, 4});
  parameter Integer info(fixed = false), rank(fixed = false);
  Real a[2] = x1[1:2], b[2] = x2[1:2];
  Real c[2] = Lapack.dgglse(identity(2), {1, 1}, [1, 1], {1});
  Real d[3] = Lapack.dgtsv({1, 1}, {2, 2, 2}, {1, 1}, {3, 4, 3*time});
  Real lu[2, 2], x[2];
  Integer pivots[2];
initial equation
  (x1, info, rank) = Lapack.dgelsy(A, {1, 2, 4});
equation
  (lu, x, pivots) = Lapack.dgesv([1, 2; 3, 4], {1, 2});
  annotation(experiment(StopTime = 1));
end M;
