// 7.1: The name of a base class means the same with what is inherited.
// error: E0105 at 15:11 'C' is a base class here, and a class of this name is inherited, too
model C
  Real j = 1;
end C;

model B
  model C
    Real i = 2;
  end C;
end B;

model M
  extends B;
  extends C;
end M;
