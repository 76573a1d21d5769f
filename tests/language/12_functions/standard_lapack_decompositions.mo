// 12.9: Subroutines of LAPACK that the Modelica Standard Library declares come without --allow-external: eigenvalues, singular values, QR.
// expect: sum = -3 within 1e-10
// expect: product = 2 within 1e-10
// expect: residual = {0, 0} within 1e-10
// expect: sigma = {5, 3}
// expect: qr = {{1, 2}, {3, 4}, {5, 6}} within 1e-12
// expect: orthogonal = {{1, 0}, {0, 1}} within 1e-12
// expect: symmetric = {1, 3} within 1e-12
// expect: lower = {2, 1, 2}
// expect: moved = {-1, 0.5} within 1e-10
// expect: schur = 2 within 1e-10
package Lapack
  function dgeev
    input Real A[:, size(A, 1)];
    output Real re[size(A, 1)], im[size(A, 1)], vectors[size(A, 1), size(A, 1)];
    output Integer info;
  protected
    Real dummy[1, 1], copy[size(A, 1), size(A, 1)] = A, work[12*size(A, 1)];
    Integer n = size(A, 1);
    external "FORTRAN 77" dgeev("N", "V", n, copy, n, re, im, dummy, 1, vectors, n, work, size(work, 1), info) annotation(Library = "lapack");
  end dgeev;
  function dgesvd
    input Real A[:, :];
    output Real sigma[min(size(A, 1), size(A, 2))], U[size(A, 1), size(A, 1)], VT[size(A, 2), size(A, 2)];
    output Integer info;
  protected
    Integer m = size(A, 1), n = size(A, 2), lwork = 5*size(A, 1) + 5*size(A, 2);
    Real copy[size(A, 1), size(A, 2)] = A, work[5*size(A, 1) + 5*size(A, 2)];
    external "FORTRAN 77" dgesvd("A", "A", m, n, copy, m, sigma, U, m, VT, n, work, lwork, info) annotation(Library = "lapack");
  end dgesvd;
  function dgeqp3
    input Real A[:, :];
    output Real QR[size(A, 1), size(A, 2)] = A, tau[min(size(A, 1), size(A, 2))];
    output Integer p[size(A, 2)] = ones(size(A, 2)), info;
  protected
    Real work[3*size(A, 2) + 1];
    external "FORTRAN 77" dgeqp3(size(A, 1), size(A, 2), QR, size(A, 1), p, tau, work, size(work, 1), info) annotation(Library = "lapack");
  end dgeqp3;
  function dorgqr
    input Real QR[:, :], tau[:];
    output Real Q[size(QR, 1), size(QR, 2)] = QR;
    output Integer info;
  protected
    Real work[size(QR, 2)];
    external "FORTRAN 77" dorgqr(size(QR, 1), size(QR, 2), size(tau, 1), Q, size(Q, 1), tau, work, size(work, 1), info) annotation(Library = "lapack");
  end dorgqr;
  function dsyev
    input Real A[:, size(A, 1)];
    output Real values[size(A, 1)];
    output Integer info;
  protected
    Real copy[size(A, 1), size(A, 1)] = A, work[3*size(A, 1)];
    external "FORTRAN 77" dsyev("N", "U", size(A, 1), copy, size(A, 1), values, work, size(work, 1), info) annotation(Library = "lapack");
  end dsyev;
  function dpotrf
    input Real A[:, size(A, 1)];
    output Real L[size(A, 1), size(A, 1)] = A;
    output Integer info;
    external "FORTRAN 77" dpotrf("L", size(A, 1), L, size(A, 1), info) annotation(Library = "lapack");
  end dpotrf;
  function dhseqr
    input Real H[:, size(H, 1)];
    output Real re[size(H, 1)], im[size(H, 1)];
  protected
    Integer info, n = size(H, 1);
    Real copy[size(H, 1), size(H, 1)] = H, none[1, 1], work[size(H, 1)];
    external "FORTRAN 77" dhseqr("E", "N", n, 1, n, copy, n, re, im, none, 1, work, n, info) annotation(Library = "lapack");
  end dhseqr;
end Lapack;
model M
  parameter Real A[2, 2] = [0, 1; -2, -3], B[3, 2] = [1, 2; 3, 4; 5, 6];
  Real re[2], im[2], V[2, 2], sum = re[1] + re[2], product = re[1]*re[2];
  Real residual[2] = A*V[:, 1] - re[1]*V[:, 1];
  Real sigma[2] = Lapack.dgesvd([3, 0; 0, 4; 0, 3]);
  Real QR[3, 2], tau[2], Q[3, 2] = Lapack.dorgqr(QR, tau), R[2, 2] = [QR[1, 1], QR[1, 2]; 0, QR[2, 2]];
  Real qr[3, 2] = Q*R, orthogonal[2, 2] = transpose(Q)*Q;
  Real symmetric[2] = Lapack.dsyev([2, 1; 1, 2]);
  Real L[2, 2] = Lapack.dpotrf([4, 2; 2, 5]), lower[3] = {L[1, 1], L[2, 1], L[2, 2]};
  Real w[2], moved[2] = {min(w), max(w)};
  Real hr[2] = Lapack.dhseqr([1, time - 1; 1, 1]), schur = hr[1] + hr[2];
equation
  (re, im, V) = Lapack.dgeev(A);
  w = Lapack.dgeev([time - 2, 0; 1, 0.5]);
  (QR, tau) = Lapack.dgeqp3(B);
  annotation(experiment(StopTime = 1));
end M;
