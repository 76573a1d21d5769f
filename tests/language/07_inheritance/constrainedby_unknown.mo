// 7.3.2: A constraining type exists.
// error: E0102 at 4:40
model M
  replaceable Real x = 1 constrainedby sin;
end M;
