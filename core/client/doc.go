// Package client asks gates on behalf of one person or program: it submits,
// watches, cancels and queries jobs, asks after the cluster, orders drains, and
// keeps at it while gates come and go.
//
// It shows nothing and decides nothing about jobs. A command is one of the
// catalogue's requests (JobSubmit, JobWatch, JobQuery, JobCancel, DatacenterQuery,
// StatusQuery, ClusterQuery, DrainRequest) without a RequestID; answers go to
// Env.Answer as they come: JobAck, JobStatus, JobResult, JobCancelAck,
// DatacenterList, StatusList, ClusterStatus, DrainAck, or Refused.
//
// Source: DESIGN.md, "Jobs and fences"; kernel decisions on requests and replies. A
// gate tells all gates (GateSet). Whom to ask about a job: who is said to own it, then
// the ring's order (core/ring), then whoever is left. After all were asked in vain
// the client waits, 0.5 s to 5 s with full jitter, or as long as it was told.
//
// Invariants:
//
//	CLIENT-1 Every command but a watch has exactly one answer, within AskTimeout. A
//	         watch has statuses, then exactly one JobResult, or one Refused that no wait
//	         would change, and nothing after it; it waits for gates as long as there are
//	         none.
//	CLIENT-2 A try has a RequestID of its own; an answer to an older try is ignored.
//	CLIENT-3 What a watch is told never goes back: neither the state, nor the sequence of
//	         one gate, nor the age of the job between two.
//	CLIENT-4 A submission travels under one key, whatever gates it is sent to: they
//	         contend for one register. So it may be sent until somebody answers.
//	CLIENT-5 Commands, gates, redirects, and what is remembered of jobs, are bounded.
//	CLIENT-6 Each operation on a job is told of when it is first sent (ClientCalled) and
//	         once when its answer is certain (ClientReturned): not when it was given up, nor
//	         refused while an older try may have taken effect.
//
// Read config.go, machine.go, gates.go, command.go, route.go, connection.go, answer.go,
// call.go, sizes.go, rest.go.
package client
