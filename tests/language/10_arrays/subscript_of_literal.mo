// 10.5: A literal has no dimensions.
// error: E0111 at 5:14 'one' has no dimensions and cannot have subscripts
model M
  type E = enumeration(one, two, three);
  E e = E.one[1];
end M;
