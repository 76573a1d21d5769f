// 4.2: A class and an inherited component cannot have the same name.
// error: E0105 at 8:3
model A
  Real x = 1;
end A;
model M
  extends A;
  model x
  end x;
end M;
