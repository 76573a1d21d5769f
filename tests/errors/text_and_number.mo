model M
  parameter Integer n = 3;
  parameter String s = "n is " + n;
equation
  assert(time < 10, "x" + time);
end M;
