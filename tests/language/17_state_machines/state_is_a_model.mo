// 17.1: States are blocks.
// error: E0515 at 14:16
// error: E0515 at 15:14
model M
  model S
    outer output Integer i;
  equation
    i = previous(i) + 1;
  end S;
  inner Integer i(start = 0);
  S a;
  S b;
equation
  initialState(a);
  transition(a, b, i > 3, immediate = false);
end M;
