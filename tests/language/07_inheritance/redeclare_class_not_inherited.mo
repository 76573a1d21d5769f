// 7.3: A class is redeclared that is inherited.
// error: E0103 at 4:13 there is no inherited 'A' that could be redeclared
model M
  redeclare model A
    Real x = 1;
  end A;
  A a;
end M;
