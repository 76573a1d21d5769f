// 4.4.2.2: The prefix flow stands before parameter.
// error: E0001 at 3:39
model M connector C Real e; parameter flow Real f; end C; C c; end M;
