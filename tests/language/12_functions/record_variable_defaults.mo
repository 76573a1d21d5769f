// 12.4.4: a record that is a variable of a function has the values that its class gives to fields, also constants and those of a base class.
// expect: a = 2
// expect: b = 6
// expect: c = 4
// expect: d = 13
// expect: e = {7, 5}
package P
  record Plain
    Real a = 2;
    Real b;
  end Plain;
  record Fixed
    constant Real a[3];
    parameter Real p = 1;
  end Fixed;
  record Given
    extends Fixed(a = {4, 5, 6});
  end Given;
  record Nested
    Plain inside;
    Real twice = 2*inside.a;
  end Nested;
  function plain
    input Real x;
    output Real y;
  protected
    Plain r;
  algorithm
    y := r.a*x;
  end plain;
  function given
    input Real x;
    output Real y;
  protected
    Given r;
  algorithm
    y := r.a[2]*x + r.p;
  end given;
  function nested
    input Real x;
    output Real y;
  protected
    Nested r;
  algorithm
    y := r.twice*x;
  end nested;
  function called
    input Real x;
    output Real y;
  protected
    Given r;
    Real z;
  algorithm
    z := 10*x;
    y := 0;
    while z > 0.5 loop
      y := y + r.a[1];
      z := z - 4;
    end while;
    y := y + r.p;
  end called;
  function result
    input Real x;
    output Plain r(b = 3);
  algorithm
    r.a := r.a + r.b*x + 2;
    r.b := 5;
  end result;
end P;
model M
  Real a = P.plain(time), b = P.given(time), c = P.nested(time), d = P.called(time);
  P.Plain r = P.result(time);
  Real e[2] = {r.a, r.b};
  annotation(experiment(StopTime = 1));
end M;
