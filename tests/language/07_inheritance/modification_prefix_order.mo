// 7.2: The prefix each stands before final.
// error: E0001 at 3:67
model A parameter Real p=1; Real y=p; end A; model M A a[2](final each p=1); end M;
