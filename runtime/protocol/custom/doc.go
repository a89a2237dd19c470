// Package custom speaks protocol 1 of custom steps: lines of JSON on a program's stdin and stdout.
//
//	-> {"hyperscale":1,"executor":0,"process":0,"seed":7,"in_flight":64}
//	<- {"hyperscale":1,"name":"legacy 2.1","measures":["rows"]}
//	-> {"id":1024,"call":"book","vu":4,"args":{"id":"17"},"timeout_ms":5000}
//	<- {"id":1024,"ok":true,"status":200,"body":"...","measures":{"rows":3}}
//	-> {"cancel":1024}
//	-> {"end":true}
//	<- {"calls":812}
//
// It starts no program (runtime/process does) and keeps no time: the loop gives it what was read, and
// writes what it has queued.
//
// Source: docs/workflows.md, "A program of your own".
//
// Invariants:
//
//	CUSTOM-1 However the bytes that Feed takes are cut, the listener hears the same.
//	CUSTOM-2 A call ends once: answered, or cancelled. At most InFlight are open, and Operate opens none
//	         before the hello, behind End, or behind an error.
//	CUSTOM-3 A count that Operate was given grows by one when the kernel has the call's whole line.
//	CUSTOM-4 A line has at most LineMost bytes, both ways; a longer one of the program is an error before
//	         more of it is kept. A call that is too long queues nothing.
//	CUSTOM-5 The answer to a call that was cancelled counts as late, once. Any other line that answers no
//	         open call is an error, as is one of a call that was answered. Of cancelled calls the last
//	         65,536 are remembered: once one is forgotten, an answer to any as old counts as late.
//	CUSTOM-6 Measures have the names of the hello, at most MeasuresMost, and are whole numbers.
//
// Example:
//
//	c := custom.New(custom.Hello{Seed: 7, InFlight: 64})
//	err := c.Feed(received, listener)
//	place, err := c.Operate(operation, custom.Order{Tag: tag, Timeout: timeout, Sent: &sent})
//	n, err := unix.Write(stdin, c.Output())
//	c.Sent(n)
//
// Read hello.go, operation.go, conn.go, intake.go, scan.go, fault.go.
package custom
