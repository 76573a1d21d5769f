// 12.4.3: Outputs of a function are taken by variables.
// error: E0216 at 9:4 the outputs of a function are taken by variables, and this is none
model M
  function f
    output Real x = 1.0; output Real y = 2.0;
  end f;
  Real x; Real y;
equation
  (x + 1, y + 2) = f();
end M;
