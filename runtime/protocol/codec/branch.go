package codec

// Branching is a dialogue that moves data over a second connection to its peer, one at a time. Its carrier
// asks Branch behind each call, and does what that says:
//
//	BRANCH-1 The second connection goes to the address of the first one, whatever the peer says.
//	BRANCH-2 Bytes of it that are cut anywhere have the same outcome.
type Branching interface {
	Dialogue
	Branch() Branch
	Branched(secure bool)                    // it stands, in clear or in TLS
	BranchFeed(b []byte, on Listener) error  // what was read there; an error ends both connections
	BranchEnds(err error, on Listener) error // it is over, or could not begin: io.EOF says in order
	BranchOutput() []byte                    // what to write there next
	BranchSent(n int)
	// BranchHeld says, before each Feed behind Ends, how many bytes that went this machine has not sent yet.
	BranchHeld(n int)
}

// Branch is what the second connection is to be.
type Branch struct {
	Port   uint16 // 0: there is none, or it is to be closed
	Secure bool   // it has TLS that takes up the session of the first one
	Ends   bool   // nothing more is written: its end goes out behind what is queued
	Quiet  bool   // nothing is ever written there, in TLS or in clear
}
