// 12.8: The inverse may be called with named arguments, in any order.
// expect: x = 2 within 1e-9
model M
  function square
    input Real x, k;
    output Real y;
  algorithm
    y := k*x^2;
    annotation(Inline = false, inverse(x = root(k = k, y = y)));
  end square;
  function root
    input Real y, k;
    output Real x;
  algorithm
    x := sqrt(y/k);
    annotation(Inline = false);
  end root;
  Real x;
equation
  square(x, 3) = 12;
end M;
