// 10.4.2.1: [A; B] has as many dimensions as the one that has most of them.
// expect: z = {{2, 1}}
// expect: y[2,1,1] = 1
model M
  Real z[1, 2] = [{{2}}, {1.0}];
  Real y[2, 1, 1] = [{{{2}}}; {1.0}];
end M;
