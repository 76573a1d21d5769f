// 6.4: Enumerations with other literals are other types.
// error: E0130 at 7:7 'E' cannot be redeclared as 'M.E', which is no 'M.A.E'
model M
  model A
    replaceable type E = enumeration(a, b, c);
  end A;
  A x(redeclare type E = enumeration(a, b, d));
end M;
