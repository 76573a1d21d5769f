// 8.3.6: Branches of one when-equation set a variable anew, and so do branches of an if-equation in it.
// expect: x = 5 at 0.6
// expect: x = 6 at 0.8
// expect: y = 7 at 0.6
model M
  Real x(start = 1, fixed = true);
  Real y(start = 1, fixed = true);
equation
  der(x) = 0;
  der(y) = 0;
  when time >= 0.5 then
    reinit(x, 5);
    if x > 0 then
      reinit(y, 7);
    else
      reinit(y, 8);
    end if;
  elsewhen time >= 0.7 then
    reinit(x, 6);
  end when;
end M;
