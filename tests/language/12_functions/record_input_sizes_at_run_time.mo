// 12.4.1: A function that is called at run time is another one for each size of an open field of its record, with arguments that vary as well.
// expect: a = 14
// expect: b = 30
// expect: c = 13 at 1
// expect: d = 15 at 1
// expect: e = 46 at 1
model M
  record Open
    Real v[:];
  end Open;
  record Pair
    Open first;
    Real factor = 1;
  end Pair;
  function total
    input Open r;
    output Real y;
  algorithm
    y := 0;
    for i in 1:size(r.v, 1) loop
      y := y + r.v[i]*i;
    end for;
    while y > 1000 loop
      y := y - 1;
    end while;
  end total;
  function scaled
    input Pair p;
    output Real y;
  algorithm
    y := p.factor;
    for i in 1:size(p.first.v, 1) loop
      y := y + p.factor*p.first.v[i];
    end for;
    while y > 1000 loop
      y := y - 1;
    end while;
  end scaled;
  parameter Open three = Open(v = {1, 2, 3}), four(v = {1, 2, 3, 4});
  parameter Pair two = Pair(first = Open(v = {1, 2}), factor = 2), five = Pair(first = Open(v = {1, 2, 3, 4, 5}), factor = 2);
  Real a = total(three), b = total(four), c = total(Open(v = {time, 6})), d = total(Open(v = {time, 1, 1, 1, 1}));
  Real e = scaled(two) + scaled(five) + 6*time;
end M;
