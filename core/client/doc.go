// Package client sends requests to gates for one person or program. It submits, watches,
// cancels and queries jobs, queries the cluster, orders drains, and retries while gates
// start and stop.
//
// It shows nothing and decides nothing about jobs. A command is one of the catalogue's
// requests (JobSubmit, JobWatch, JobQuery, JobCancel, DatacenterQuery, StatusQuery,
// ClusterQuery, DrainRequest) without a RequestID. Answers go to Env.Answer as they arrive:
// JobAck, JobStatus, JobResult, JobCancelAck, DatacenterList, StatusList, ClusterStatus,
// DrainAck, or Refused.
//
// Source: DESIGN.md, "Gate". Each gate names all gates (GateSet). For a job the client asks
// the gate that is said to own it, then the ring's order (core/ring), then the rest. After
// all of them failed it waits 0.5 s to 5 s with full jitter, or as long as a gate said.
//
// Invariants:
//
//	CLIENT-1 Every command but a watch has exactly one answer, within AskTimeout. A watch
//	         has statuses, then exactly one JobResult, or one Refused that no wait would
//	         change, and nothing after it. It waits for gates while there are none.
//	CLIENT-2 A try has a RequestID of its own; the client ignores an answer to an older try.
//	CLIENT-3 What a watch reports never goes back: neither the state, nor the sequence of
//	         one gate, nor the age of the job between two.
//	CLIENT-4 A submission has one key at every gate, so that gates contend for one
//	         register. The client may repeat it until a gate answers.
//	CLIENT-5 Commands, gates, redirects, and what it remembers of jobs, are bounded.
//	CLIENT-6 Each operation on a job emits ClientCalled when it is first sent. It emits
//	         ClientReturned once, when its answer is certain. A client that gave up, or a
//	         rejection while an older try may have taken effect, emits none.
//
// Read config.go, machine.go, gates.go, command.go, route.go, connection.go, answer.go,
// call.go, sizes.go, rest.go.
package client
