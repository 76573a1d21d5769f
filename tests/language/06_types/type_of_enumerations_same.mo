// 6.7: Enumerations with the same literals in the same order are of one type.
// expect: i = 2
model M
  type E = enumeration(a, b);
  type F = enumeration(a, b);
  E e = F.b;
  Integer i = Integer(e);
end M;
