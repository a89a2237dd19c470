// Package island runs a library's own goroutines beside a loop, which reads and writes their sockets.
//
// It is not a scheduler and no codec: it knows no protocol and no connection. A library that starts
// goroutines cannot run on the loop, and goroutines that wait in Go's poller run late while the loop waits.
// So the loop reads the socket and feeds a Stream (TCP) or Packets (UDP), which the library takes for its
// net.Conn or net.PacketConn. What the library writes, and what it has to tell, the loop collects.
//
// Source: DESIGN.md, "Execution".
//
// Invariants:
//
//	ISLAND-1 Each queue is bounded. A library that reads nothing makes the loop stop reading, and one whose
//	         bytes the loop does not take waits. A full queue of datagrams drops the newest, and counts it.
//	ISLAND-2 What the loop feeds is read once and in order, and the end behind all of it.
//	ISLAND-3 Shore.Tell reaches the loop: the next Take has its tag, once for any number of calls, and
//	         a loop that sleeps is woken, once for all tags of a batch.
//	ISLAND-4 At most Most goroutines run for a crew, and at most Handshakes of them between Enter and
//	         Leave, OfHost of them with one host. A panic in one ends its own work only; one in a goroutine that the library starts itself
//	         ends the process, as anywhere.
//	ISLAND-5 After Stream.Close and Packets.Close each call of the library returns at once. Crew.Close
//	         waits for the crew's goroutines, at most so long, and returns how many are left.
//
// A crew belongs to one loop, which alone calls Take, Fed, Asleep and Close. Stream and Packets have two
// sides: the methods of net.Conn and net.PacketConn are the library's, the others the loop's.
//
// Example, of a stream (see runtime/protocol/island/ssh):
//
//	shore := crew.Shore(token)
//	stream := island.NewStream(shore)
//	crew.Go(func() { client := library(stream); shore.Tell() }, func(err error) {})
//	stream.Feed(bytes)                            // the loop has read them
//	for _, token := range crew.Take(nil) { write(stream.Output()) }
//
// Example, of datagrams: the library writes to the kernel itself, through a function of the loop's.
//
//	packets := island.NewPackets(shore, local, func(b []byte, to netip.AddrPort) error { return sendto(fd, b, to) })
//	packets.Feed(datagram, from)
//
// Read crew.go, inlet.go, stream.go, packets.go.
package island
