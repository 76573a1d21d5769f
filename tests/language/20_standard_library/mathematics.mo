// 20: Functions of numbers, vectors and matrices.
// expect: s = 0.5 within 1e-15
// expect: n1 = 7
// expect: n2 = 5
// expect: ninf = 4
// expect: u = {0.6, 0.8}
// expect: r = {4, 3}
// expect: x = {-0.5, 2.5, -2} within 1e-12
// expect: residual = 0 within 1e-12
model M
  import Modelica.Math;
  Real s = Math.sin(Modelica.Constants.pi/6);
  Real n1 = Math.Vectors.norm({3, -4}, 1), n2 = Math.Vectors.norm({3, 4}), ninf = Math.Vectors.norm({3, -4}, Modelica.Constants.inf);
  Real u[2] = Math.Vectors.normalize({3, 4}), r[2] = Math.Vectors.reverse({3, 4});
  Real A[3, 3] = [0, 2, 1 + time; 1, time, 0; 3, 1, -1];
  Real x[3] = Math.Matrices.solve(A, {1, 2, 3});
  Real residual = max(abs(A*x - {1, 2, 3}));
end M;
