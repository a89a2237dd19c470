package node

import "fmt"

// Right is what a client may ask for. Each right includes those after it.
type Right uint8

// The rights. The zero value is that of a client without a certificate: where a cluster has none,
// all clients are equal.
const (
	RightOperate Right = iota // everything, for jobs of all clients and for nodes
	RightSubmit               // also submits jobs, and cancels and replays its own
	RightView                 // asks, lists and watches
)

// Has reports whether a client with this right may do what needs another.
func (r Right) Has(needs Right) bool { return r <= needs }

// String is the role that a certificate claims for the right.
func (r Right) String() string {
	switch r {
	case RightOperate:
		return "operator"
	case RightSubmit:
		return "submitter"
	case RightView:
		return "viewer"
	}
	return fmt.Sprintf("right(%d)", uint8(r))
}

// Grant is what the certificate of a peer says, and nothing that the peer says itself. It is zero
// on a stream without certificates.
type Grant struct {
	Subject    string // who the holder is: the certificate's common name
	Datacenter string // of a manager or a worker
	Right      Right  // of a client
}

// Owns reports whether a client may change a job of an owner. Operators change all jobs. No
// submitter owns a job whose owner is not known.
func (g Grant) Owns(owner string) bool {
	return g.Right == RightOperate || g.Right == RightSubmit && owner != "" && g.Subject == owner
}
