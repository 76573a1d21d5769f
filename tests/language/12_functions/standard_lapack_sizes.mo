// 12.9: A subroutine of LAPACK is not called with sizes that do not fit each other.
// fails: the sizes or options given to LAPACK's dgeqrf do not fit each other
model M
  function dgeqrf
    input Real A[:, :];
    output Real QR[size(A, 1), size(A, 2)] = A;
  protected
    Real tau[1], work[10];
    Integer info;
    external "FORTRAN 77" dgeqrf(size(A, 1), size(A, 2), QR, size(A, 1), tau, work, 10, info) annotation(Library = "lapack");
  end dgeqrf;
  Real QR[2, 2] = dgeqrf([1, time; 3, 4]);
end M;
