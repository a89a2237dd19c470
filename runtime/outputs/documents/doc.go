// Package documents is the output that keeps each row as a document under a key: Redis and MongoDB.
//
// It is no table of SQL (runtime/outputs/relational is) and speaks no wire format: the codecs of the load engine do.
//
// Invariants:
//
//	DOC-1 A document has the key of its row alone: two rows share one only if kind, job, datacenter, workflow, step and
//	      its kind, boundaries, expression and sequence are equal.
//	DOC-2 A row replaces one of its key only if its version is not smaller, compared by the server, as bytes.
//	DOC-3 A row that a server never takes is rejected alone: the others of its batch are delivered.
//
// Read key.go, redis.go, redisback.go, mongodb.go, mongoback.go.
package documents
