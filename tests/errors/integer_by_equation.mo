// An equation that determines an Integer gives it a whole number; one that determines the Real beside it may have both.
model integer_by_equation
  function half
    input Real u;
    output Real y;
  algorithm
    y := 0.5;
    while y < u loop
      y := y + 0.5;
    end while;
  end half;
  record Counted
    Integer n;
    Real x;
  end Counted;
  parameter Real p = 1;
  Integer sum, quotient, sides, called, branch, several[2], here[2], held, ticked;
  record Given
    Real n;
    Real x;
  end Given;
  Counted counted;
  discrete Given given;
  discrete Real level(start = 0, fixed = true);
  Integer good, whole[2], counted_up[3], counter(start = 3, fixed = true);
  Real twice, other;
equation
  sum = p + sin(p);
  2*quotient = 3;
  p = sides;
  called = half(p);
  if time > 0.5 then
    branch = 1.5;
  else
    branch = 2;
  end if;
  several = {1.5, 2.5};
  for i in 1:2 loop
    here[i] = i*p;
  end for;
  when time > 0.5 then
    level = 1.5;
    held = level;
    given = Given(1.5, 2.5);
    counted = given;
  end when;
  ticked = sample(time, Clock(0.1));
  good = mod(counter, 2) + div(counter, 3) + rem(7, counter) + counter*counter - abs(counter) + integer(p/2);
  for i in 1:3 loop
    counted_up[i] = 2*i;
  end for;
  whole = {2.0, if level > 1 then 1 else 2};
  when time > 0.3 then
    counter = pre(counter) + 1;
  end when;
  2*good = twice;
  counter = other;
end integer_by_equation;
