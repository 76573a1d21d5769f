// 4.5.1: A type of an input does not become one of an output.
// error: E0131 at 5:3 'M.RI' is declared with input already
model M
  type RI = input Real;
  type RO = output RI;
  block K RO y = 1; end K;
  K k;
end M;
