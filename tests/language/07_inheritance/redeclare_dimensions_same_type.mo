// 7.3.3: What is not replaceable is redeclared with the same type and other dimensions.
// expect: b.s = 12
model ABCD
  parameter Real A[n, n];
  parameter Integer n = size(A, 1);
  Real s = sum(A) + n;
end ABCD;
model M
  ABCD b(redeclare parameter Real A[2, 2] = [1, 2; 3, 4]);
end M;
