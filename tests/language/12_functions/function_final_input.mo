// 12.2: A final input has no other default.
// error: E0109 at 10:18
model M
  function f
    final input Real u;
    output Real y;
  algorithm
    y := u;
  end f;
  function g = f(u = 3);
  Real x = g();
end M;
