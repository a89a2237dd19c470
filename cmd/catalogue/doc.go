// Command catalogue generates core/message's codec.
//
// It runs tinylib/msgp over each source file of the package and then writes, in
// catalogue_gen.go, what msgp does not: the exact encoded size, the digest, the
// check for required fields, and the registry of kinds. It is not a general tool:
// it understands exactly the field types that the catalogue uses and refuses
// others by name.
//
// With -records it generates the codec of core/message/record instead, which keeps the
// fields that it does not know; msgp has no part in that.
//
// Read main.go (files in, files out), parse.go (structs to a small model),
// emit.go (the model to Go). Of records: record.go, then emitrecord.go.
package main
