// 10.6.8: The exponent of a matrix is an Integer.
// error: E0210 at 4:18
model M
  Real c[2, 2] = [1, 1; 0, 1]^3.0;
end M;
