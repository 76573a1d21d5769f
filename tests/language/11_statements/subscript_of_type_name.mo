// 11.2.2.2: The name of a type that stands for its values has no subscripts.
// error: E0111 at 6:19 'Boolean' has no dimensions and cannot have subscripts
model M
  Real x;
equation
  for i in Boolean[1] loop
    if i then x = 1; end if;
  end for;
end M;
