// 8.6: An assertion in an initial algorithm fails where none of its alternatives holds.
// error: E0607 at 10:5 e: too small
model M
  model E
    parameter Real p[3] = {1, 2, 3};
    parameter Real w = 2;
  initial equation
    assert(true, "never");
  initial algorithm
    assert(max(p) < 1e-6 or w > max(p), "too small");
  end E;
  E e;
end M;
