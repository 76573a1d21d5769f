// 4.4.2.2: A component is a parameter or a constant.
// error: E0001 at 3:19
model M parameter constant Real x = 1; end M;
