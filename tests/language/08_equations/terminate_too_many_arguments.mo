// 8.3.8: terminate takes a message.
// error: E0123 at 6:20
model M
equation
  when time > 1 then
    terminate("a", "b");
  end when;
end M;
