// Package epoll is a thin layer over the kernel's readiness interface, with a timing wheel for
// deadlines.
//
// It is not an event loop, a connection pool or a buffer: its users (the load engine, the
// test target) own those. It buffers nothing and starts no goroutine. Elsewhere than on Linux it compiles, and New fails.
//
// Invariants:
//
//	EPOLL-1 A call that can block goes through the Go scheduler, so that a loop never starves
//	        the other goroutines of its process. A call that cannot block does not.
//	EPOLL-2 A wait never returns before its timeout for want of precision: nanoseconds
//	        where the kernel has epoll_pwait2, else milliseconds rounded up.
//	EPOLL-3 A timer of the wheel never fires before its deadline. It fires at most one tick
//	        (1 ms) after it, if the loop calls Expire then.
//	EPOLL-4 Neither Wait nor the wheel allocates once its buffers have grown.
//
// Example:
//
//	_ = p.Add(fd, epoll.In, token)
//	n, err := p.Wait(events, wheel.Timeout(now))
//	for id, ok := wheel.Expire(now); ok; id, ok = wheel.Expire(now) { ... }
//
// Read poller.go, socket.go, wheel.go.
package epoll
