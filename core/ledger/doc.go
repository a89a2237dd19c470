// Package ledger persists before a role acts: it writes records to registers and files to
// the archive, and hands out the tag of each request once a majority has what it asked for.
//
// It does not decide what a record says, whether this node holds a register, or when to try
// again: the role does. It stores no function: a tag is a small value of the role's own
// type, and the role acts on it.
//
// Source: etcd/raft's Ready, whose caller persists entries before it sends messages. Here the
// ledger does both steps.
//
// Invariants:
//
//	LEDGER-1 Next hands out Committed only after a majority has a record that was made at or
//	         after the request.
//	LEDGER-2 Next hands out the tags of one register in the order of their requests, each once.
//	LEDGER-3 Next hands out nothing of a register that the role closed, or that was lost,
//	         since the request.
//	LEDGER-4 The register names a file only after a majority kept it, and recently enough that
//	         no keeper sweeps it first: a file that waited longer is kept again.
//	LEDGER-5 The records of one register go out in the order in which they were made.
//
// There are two ways to write. Propose writes the record that the caller passes, behind the
// files that it names. Await marks the register, and the role writes one record for all that
// changed at the end of its Step. A tag of Await waits while an earlier write waits for its
// file.
//
//	l.Await(job, tag{kind: cut})
//	for _, job := range l.Changed() { l.Write(env, job, record(job)) }
//	for o, ok := l.Next(); ok; o, ok = l.Next() { act(o.Tag) }
//
// Bounds: a ledger has one book for each register that the role opened, one wait for each
// request, and one entry for each file on its way. The role bounds all three.
//
// Layers, of which each calls those below it alone: Ledger dispatches outcomes and writes
// records; shelf keeps and fetches files; book is one register's requests as a value.
//
// Read outcome.go, book.go, shelf.go, write.go, ledger.go, rest.go.
package ledger
