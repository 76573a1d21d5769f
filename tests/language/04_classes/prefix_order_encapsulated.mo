// 4.5: The prefix encapsulated stands before partial.
// error: E0001 at 3:9
partial encapsulated model A Real x=1; end A; model M Real y=1; end M;
