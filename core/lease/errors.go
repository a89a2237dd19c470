package lease

import (
	"errors"
)

// Errors that outcomes carry.
var (
	// ErrQuorumUnavailable: this node did not reach a majority of the configured set, and
	// changed nothing.
	ErrQuorumUnavailable = errors.New("no majority of the configured set is reachable: start the missing members, or mend the network between them")
	// ErrQuorumTimeout: a majority did not agree in time; the request may have taken effect, or
	// may still do.
	ErrQuorumTimeout = errors.New("a majority of the configured set did not agree in time: ask again, it may have been done")
	// ErrNotMember: this member is founding or joining and answers nothing yet.
	ErrNotMember = errors.New("the node is joining its group and answers nothing yet: ask another one, or wait")
	// ErrTooLarge: a record is longer than Config.RecordMax.
	ErrTooLarge = errors.New("the record is too large: keep its parts in the archive")
	// ErrFull: this member already holds Config.RegistersMax registers.
	ErrFull = errors.New("this member keeps as many registers as it may: wait until ended jobs are reaped, or raise lease.registers_max")
	// ErrExhausted: no token is above the highest that this member has seen.
	ErrExhausted = errors.New("the register has no token left: submit the job under another key")
)

// ErrNotHolder: only the owner of a job can do that.
var ErrNotHolder = errors.New("this node does not own the job: acquire it first")
