// 6.4: Enumerations with the same literals in the same order are one type.
// expect: n = 2
model M
  model A
    replaceable type E = enumeration(a, b, c);
    E e = E.b;
    Integer n = Integer(e);
  end A;
  A x(redeclare type E = enumeration(a, b, c));
  Integer n = x.n;
end M;
