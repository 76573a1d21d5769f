// 12.4.2: A function with a Real result is no function with an Integer one.
// error: E0203 at 21:18
model M
  partial function Int
    input Real x;
    output Integer y;
  end Int;
  function q
    input Real x;
    output Real y;
  algorithm
    y := x;
  end q;
  function integ
    input Int f;
    input Real u;
    output Real r;
  algorithm
    r := f(u);
  end integ;
  Real x = integ(q, 3);
end M;
