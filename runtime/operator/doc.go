// Package operator submits, follows and cancels the jobs of LoadTest objects of a Kubernetes API server. It is a client with
// two sides: the API server, and the HTTP API of the gates.
//
// It is no part of the cluster: it starts no pod, owns no job, and keeps nothing. It uses no library of Kubernetes: it lists,
// watches, applies a status and deletes, by plain HTTP.
//
// Source: docs/operations.md, "Load tests as objects of Kubernetes"; docs/api.md.
//
// Invariants:
//
//	OPERATOR-1 The UID of an object is its Idempotency-Key: several replicas, restarts and repetitions make one job.
//	OPERATOR-2 Only a deletion that a watch reports, or a complete list that began behind the list of jobs and lacks the
//	           object, cancels a job. A broken watch, an error, silence and half a list cancel nothing.
//	OPERATOR-3 A job that this operator did not submit is neither touched nor believed, whatever its name, nor is one of a
//	           namespace that it does not watch.
//	OPERATOR-4 The API server gets at most 20 requests a second from two replicas, and one status a second for an object from
//	           each, only when it changes.
//	OPERATOR-5 Answers are bounded. Tokens are read from their files with each request, and are in no error and no log.
//
// An example:
//
//	o, err := operator.New(operator.Config{Label: "prod", Namespaces: []string{"shop"}, Kube: side, Gates: other, Logger: logger})
//	err = o.Run(ctx)
//
// Read object.go, side.go, kube.go, gates.go, operator.go, submit.go, cancel.go, follow.go, status.go, health.go.
package operator
