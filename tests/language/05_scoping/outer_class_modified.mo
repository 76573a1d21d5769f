// 5.4: An outer class is not modified where it is declared as outer.
// error: E0128 at 6:22 'outer M' cannot be modified: it is declared elsewhere
model M
  model B Real x = 1; end B;
  model A
    outer model M = B(x = 1.0);
    M m;
  end A;
  inner model M = B(x = 2.0);
  A a;
end M;
