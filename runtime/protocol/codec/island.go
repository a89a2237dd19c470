package codec

import "hyperscale/runtime/protocol/island"

// Island is a greeting or dialogue whose work goroutines do, beside the loop: bytes that it takes have an
// effect later, and it tells its shore when the loop must look at it.
//
//	CODEC-6 Behind End the island tells its shore once more, with an error or with what was under way.
//	CODEC-7 Drop and Release end its goroutines, and wait for none.
type Island interface {
	// Look says that the loop looks at it now. It tells its shore anew from here on.
	Look()
	// Full reports that it takes no more bytes until it is looked at again.
	Full() bool
	// End says that the peer sends no more, with the error of the read. What was fed before has its effect
	// first.
	End(err error)
}

// IslandGreeting is a greeting of an island. It takes bytes however they are cut: Hear uses all of them. It
// is also called without bytes, when the island has told its shore, and appends what the island writes.
type IslandGreeting interface {
	Greeting
	Dropped
	Island
	// Land begins the work. The tag is what the crew returns for the island, also for the dialogue.
	Land(crew *island.Crew, tag uint64) error
}

// Untimed is an island whose goroutines wait for the loop alone: they set no timers, so that the loop need not
// give the processor away while it waits for a short time.
type Untimed interface{ Untimed() }

// IslandDialogue is the dialogue behind it. Its End belongs to Dialogue, and returns nil: the island says
// itself what that end means.
type IslandDialogue interface {
	Dialogue
	Phased
	Look()
	Full() bool
	// Stir reports what the goroutines have done. An error ends the connection.
	Stir(on Listener) error
}

// Island returns the greeting if it is an island's; nil: the loop does its work.
func (r *Rounds) Island() IslandGreeting {
	if r == nil {
		return nil
	}
	g, _ := r.greeting.(IslandGreeting)
	return g
}

// hear feeds the greeting of an island, within the bound of bytes.
func (r *Rounds) hear(dst, b []byte) (out, rest []byte, d Dialogue, err error) {
	if r.bytes += len(b); r.bytes > GreetingBytes {
		return dst, nil, nil, tooMuch("%d KiB", GreetingBytes>>10)
	}
	out, _, d, err = r.greeting.Hear(dst, b)
	return out, nil, d, err
}

// Sized is a dialogue whose answers are longer than what it reports of them.
type Sized interface {
	Dialogue
	Size() int64 // of the answer that ended last
}
