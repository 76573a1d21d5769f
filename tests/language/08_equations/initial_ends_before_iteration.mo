// 8.6: initial() is true while the initialisation is solved and false in the event iteration behind it.
// expect: q = 4 at 0
// expect: scalar = 1 at 0
// expect: seen = 3 at 0
// expect: vector = 2 at 0
model InitialEndsBeforeIteration
  Integer q(start = 1, fixed = true);
  Integer scalar(start = 0, fixed = true);
  Integer seen(start = 0, fixed = true);
  Integer vector(start = 0, fixed = true);
equation
  // 2 with the initialisation, then 3 and 4
  q = if pre(q) < 4 then pre(q) + 1 else pre(q);
algorithm
  // true in both passes behind the initialisation, which is one edge
  when change(q) and not initial() then
    scalar := pre(scalar) + 1;
    seen := q;
  end when;
  when {initial(), change(q) and not initial()} then
    vector := pre(vector) + 1;
  end when;
  annotation(experiment(StopTime = 1));
end InitialEndsBeforeIteration;
