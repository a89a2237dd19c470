// Package record is the layout of what gates and managers persist of jobs, subjobs, shards and
// their own group: plain structs with one generated codec that keeps the fields it does not know.
//
// It decides nothing and stores nothing: core/gate and core/manager fill these structs, core/lease
// replicates their bytes, and persists its own Member.
//
// Source: DESIGN.md, "Jobs and fences". A record differs from a message of the catalogue in
// two ways. It leaves out fields that are zero, as a register holds at most 64 KiB, a manager's 32 KiB. And a node
// writes back what it read, although a newer version wrote some of it: when an older gate
// takes a job over and a newer one follows it, no field of the newer is lost.
//
// Invariants:
//
//	RECORD-1 Read never panics, allocates at most a constant times its input, and shares no
//	         memory with it. It rejects a field that stands twice.
//	RECORD-2 Read(Append(x)) == x. Append(Read(b)) holds each field of b that this version
//	         does not know, with the same bytes, in the same struct of the same list.
//	RECORD-3 A struct holds numbers, truth values, texts, file digests, fences, other structs
//	         of records, and lists of these. None of them drops a field: the generator rejects every other type.
//	RECORD-4 The name of a field is never used again for something else, nor with another
//	         type. testdata/golden holds one encoding of each struct, and those of a newer
//	         version.
//
// What a newer version may count on: a struct has at most FieldsMax fields, and those that
// an older version does not know have at most UnknownMax bytes. What is larger belongs into
// a file, which the record names in Files too: every version keeps those.
//
// To add a field: give it a tag `rec:"name"`, run `go generate ./core/message/record`, and
// add an encoding to testdata/golden by running the tests with -rewrite.
//
// Example:
//
//	j := record.Job{Key: key, Number: 7, Unknown: was.Unknown}
//	b := record.Append(nil, &j)
//	err := record.Read(b, &j)
//
// Read job.go, subjob.go, member.go, codec.go, unknown.go.
package record

//go:generate go run ../../../cmd/catalogue -records -dir .
