// Package replytest plays stories of codecs whose servers answer in replies: what goes out, what the server
// says, and the outcome, which must be the same whether the server's bytes come at once or in pieces.
//
// It is for tests alone.
//
// A line with > does something, as the codec's own test says. One with < is a line of the server, escaped as
// in Go; <*N repeats it, and <raw has no line end. "greet" begins with the greeting, "talk" behind it.
//
//	talk end=eof
//	> send a@x.test b@y.test
//	< 250 ok
//	----
//	-> MAIL FROM:<a@x.test>
//
// Read replytest.go.
package replytest
