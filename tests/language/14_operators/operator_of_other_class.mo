// 14.1: A function of an operator has an input of the operator record.
// error: E0131 at 5:3
operator record C
  Real re;
  encapsulated operator function '+'
    input Real a;
    input Real b;
    output Real r;
  algorithm
    r := a;
  end '+';
end C;
model M
  C a(re = 1);
end M;
