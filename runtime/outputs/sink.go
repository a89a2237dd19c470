package outputs

import (
	"context"
	"time"
)

// Sink delivers batches to one place. The shell calls Deliver from one goroutine, unless the kind's
// Limits allow more, and calls Close last, once.
type Sink interface {
	// Check finds out before the run whether the place takes rows: address, credentials, schema.
	// The error names the remedy and no secret. Its context ends within CheckMax.
	Check(ctx context.Context) error
	// Deliver tries a batch once. It does not retry: the outcome says what the shell does next. It
	// returns soon after the context ends (Limits.Timeout), and keeps nothing of the batch.
	Deliver(ctx context.Context, b Batch) Outcome
	// Close gives up connections and files. What Deliver reported as delivered stays delivered.
	Close()
}

// Batch is what one try delivers.
type Batch struct {
	Number uint64 // of the sink, from 1; a repeated try has the number of the first one
	Try    int    // from 1
	Again  bool   // an earlier owner of the job may have delivered the same rows
	Rows   []Row  // at least one; read only
}

// Verdict says what a try achieved.
type Verdict uint8

// The verdicts.
const (
	VerdictNone      Verdict = iota
	VerdictDelivered         // the place has all rows
	VerdictAgain             // the place has none of them, and may take them later
	VerdictDenied            // as Again: the place rejects the credentials, which may rotate; the shell tries for DeniedMax
	VerdictSmaller           // the place has none of them: the batch is too large, half of it may fit
	VerdictRejected          // the place has all rows but some, and never takes those
	VerdictUnclear           // the batch went out, and no answer came: the place has all, some or none
)

// Outcome is the end of one try. Make it with the functions below.
type Outcome struct {
	Verdict Verdict
	After   time.Duration // of Again: the earliest time of the next try, as the place asks; zero: the shell chooses
	Rows    []int         // of Rejected: their indices in the batch, ascending; nil: all rows
	Why     string        // for people, without secrets; empty for delivered batches
}

// Delivered says that the place has all rows.
func Delivered() Outcome { return Outcome{Verdict: VerdictDelivered} }

// Again says that the place took nothing, and that a later try may succeed. After is what a Retry-After
// asks for; zero if the place asks for nothing.
func Again(after time.Duration, why string) Outcome {
	return Outcome{Verdict: VerdictAgain, After: max(after, 0), Why: why}
}

// Denied says that the place rejects the credentials: 401, 403, a failed login.
func Denied(why string) Outcome { return Outcome{Verdict: VerdictDenied, Why: why} }

// Smaller says that the place took nothing because the batch is too large.
func Smaller(why string) Outcome { return Outcome{Verdict: VerdictSmaller, Why: why} }

// Rejected says that the place will never take some rows, and has the others. Nil means all rows.
func Rejected(rows []int, why string) Outcome {
	return Outcome{Verdict: VerdictRejected, Rows: rows, Why: why}
}

// Unclear says that the batch went out and its answer did not arrive.
func Unclear(why string) Outcome { return Outcome{Verdict: VerdictUnclear, Why: why} }
