package pool

import "hyperscale/runtime/protocol/http2"

// codec is the seam for protocols: the state machine of one connection in its steady state, on
// which several requests are under way. Bytes go in and out, and a connection waits for
// nothing in it. http2.Conn is the first; a protocol that has no requests of HTTP brings a
// type of its own for what Open takes.
type codec interface {
	// Reset begins a connection, in the memory of one that has ended.
	Reset(config http2.Config)
	// Open queues a request and returns the stream that has its answer. CanOpen says that there
	// is room for one.
	Open(call *http2.Call, tag uint64) uint32
	CanOpen() bool
	// Track adds one to a count when the kernel has all of a stream's request.
	Track(stream uint32, count *uint64)

	// Output is what is to be written, Sent takes how much of it is gone, and Taken says that
	// what is gone has left this process.
	Output() []byte
	Sent(n int)
	Taken()

	// Feed takes what was read. However the bytes are cut, the outcome is the same.
	Feed(b []byte, on http2.Handler) error
	// Close ends every stream, once.
	Close(err error, on http2.Handler)

	// Cancel gives up a stream, and says whether it was open. Its late answer is dropped.
	Cancel(stream uint32, code http2.Code) bool
	// Ping asks whether the other side is there.
	Ping(payload uint64)

	// Ready says that the other side speaks the protocol, Usable that streams may be opened now
	// or later.
	Ready() bool
	Usable() bool
	Streams() int
	// Sending says that some of a stream's request is not written.
	Sending(stream uint32) bool
	AppendTags(dst []http2.Tagged) []http2.Tagged
	// Bytes are those of the stream that ended last, in and out.
	Bytes() (in, out uint64)
}

var _ codec = (*http2.Conn)(nil)
