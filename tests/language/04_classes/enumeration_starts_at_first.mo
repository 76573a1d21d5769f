// 4.9.5: A variable of an enumeration without a start value begins with the first literal.
// expect: k = 1
// expect: l = 1
// expect: m = 1
// expect: n = 1
// expect: o = 1
// expect: q = 2
model M
  type E = enumeration(a, b, c);
  record R
    E e;
  end R;
  E c, d, v[2], p;
  R r;
  input E u;
  Integer k = Integer(hold(c)), l = Integer(d), m = Integer(v[2]), n = Integer(r.e), o = Integer(u),
    q = Integer(p);
equation
  when Clock(0.5) then
    c = previous(c);
  end when;
  when time > 2 then
    v = {E.b, E.c};
    r.e = E.b;
  end when;
algorithm
  if time > 2 then
    d := E.c;
  end if;
  when time > 0.5 then
    p := if p == E.a then E.b else E.c;
  end when;
end M;
