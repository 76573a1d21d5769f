// 12.3: an impure function is called as often as it stands there, whether its statements are expanded or run: equal calls are not one.
// external: allowed
// expect: a = 1
// expect: b = 2
// expect: sum = 44
// expect: listed[1] = 5
// expect: listed[2] = 6
// expect: looped = 79
// expect: nested = 10
// expect: run = 33
// expect: twice = 3127
model M
  impure function next
    input Real u = 0;
    output Real y;
    external "C" y = next_number(u) annotation(Include="static double next_number(double u) { static double n; return (n += 1) + 0*u; }");
  end next;
  impure function two
    output Real y;
    output Real z;
  algorithm
    y := next();
    z := next();
  end two;
  impure function digits
    input Integer n;
    output Real y;
  algorithm
    y := 0;
    for i in 1:n loop
      y := 10*y + next();
    end for;
  end digits;
  impure function while_below
    input Real m;
    output Real y;
  protected
    Real k;
  algorithm
    y := 0;
    k := 0;
    while k < m loop
      y := y + next();
      k := k + 1;
    end while;
  end while_below;
  Real m = 1 + time/2;
  discrete Real a, b, sum, listed[2], looped, nested, run, twice;
equation
  when time > 0.5 then
    (a, b) = two();
    sum = next() + 10*next() + 1;
    listed = {next(), next()};
    looped = digits(2) + 1;
    nested = next(next());
    run = while_below(m) + 10*(pre(run) + 1);
    twice = while_below(m) + 100*while_below(m);
  end when;
end M;
