// 8.3.7: assert takes a condition, a message and a level.
// error: E0123 at 5:43
model M
equation
  assert(true, "a", AssertionLevel.error, 1);
end M;
