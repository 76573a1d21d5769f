// 10.5: an array that is a constant of a package has subscripts that follow from arguments, also of an enumeration.
// expect: a = 2 at 0.25
// expect: a = 3 at 0.75
// expect: b = 7 at 0.25
// expect: b = 5 at 0.75
package P
  type L = enumeration(one, two, three);
  constant Integer plain[3] = {3, 2, 1};
  constant Integer named[L] = {5, 7, 9};
  function f
    input Integer x[2];
    output Integer y;
  algorithm
    y := plain[x[1]];
  end f;
  function g
    input L x;
    output Integer y;
  protected
    L copy;
  algorithm
    copy := x;
    y := named[copy];
  end g;
end P;
model M
  Integer x[2] = {if time > 0.5 then 1 else 2, 2};
  P.L k = if time > 0.5 then P.L.one else P.L.two;
  Integer a = P.f(x), b = P.g(k);
  annotation(experiment(StopTime = 1));
end M;
