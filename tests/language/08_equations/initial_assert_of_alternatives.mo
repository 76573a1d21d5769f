// 8.6: An assertion among initial equations, or in an initial algorithm, holds where one of its alternatives does.
// expect: y = 29 at 1
model M
  model E
    parameter Real p[3];
    parameter Real w = if max(p) > 1e-15 then max(p) else 0;
  initial algorithm
    assert(max(p) < 1e-6 or w > 0.99*max(p), "too small");
  initial equation
    assert(w < 1 or w > 100 or max(p) < 50, "too large");
  end E;
  E e(p = {14, 21, 29});
  Real y = e.w;
end M;
