// Package client asks gates on behalf of one user or program. It submits, watches, cancels and
// queries jobs, queries the cluster, and orders drains. It retries while gates fail and return.
//
// It shows nothing and decides nothing about jobs. A command is one of the
// catalogue's requests (JobSubmit, JobWatch, JobQuery, JobCancel, DatacenterQuery,
// StatusQuery, ClusterQuery, DrainRequest, UpgradeQuery, UpgradeFinalize, JobListQuery,
// BackupQuery) without a RequestID; answers go
// to Env.Answer as they come: JobAck, JobStatus, JobResult, JobCancelAck,
// DatacenterList, StatusList, ClusterStatus, DrainAck, JobList, BackupPage, or Refused.
//
// Source: DESIGN.md, "Jobs and fences"; kernel decisions on requests and replies. A gate
// reports the set of all gates (GateSet). For a job the client asks its reported owner first,
// then the gates in the ring's order (core/ring), then the rest. If no gate accepts, the client
// waits: 0.5 s to 5 s with full jitter, or as long as a gate asked it to.
//
// Invariants:
//
//	CLIENT-1 Every command but a watch has exactly one answer, within AskTimeout. A
//	         watch has statuses, then exactly one JobResult, or one Refused that no wait
//	         would change, and nothing after it. While there are no gates, a watch waits.
//	CLIENT-2 A try has a RequestID of its own; the client ignores an answer to an older try.
//	CLIENT-3 What a watch shows never goes back: neither the state, nor the sequence of
//	         one gate, nor the age of the job between two.
//	CLIENT-4 A submission has one key at all gates, so that they contend for one register.
//	         So the client may send it until a gate answers.
//	CLIENT-5 Commands, gates, redirects, and what the client remembers of jobs, are bounded.
//	CLIENT-6 The client reports each operation on a job when it first sends it (ClientCalled),
//	         and once when its answer is certain (ClientReturned). It reports no return of one
//	         that it gave up, nor of a rejection while an older try may have taken effect.
//	CLIENT-7 A list of jobs is merged from the pages of every gate that the client can ask,
//	         and names the gates whose pages are missing. One gate that answers is enough.
//	CLIENT-8 A client that knows names alone opens several of their addresses at once, and asks the
//	         first gate that answers. It asks gates of its cache only while names lead to none.
//	CLIENT-9 With Config.Explore, a question that any gate answers goes to the gate that answers
//	         pings fastest (core/discovery.Pool). One about a job goes to its owner all the same.
//	CLIENT-10 Of what a client sends in a span, over all commands, at most Config.Retries repeat what a
//	         gate did not serve: an outage of gates multiplies no load. To follow a redirect, or to
//	         watch again on a new stream, repeats nothing. Cancels and watches have no budget.
//
// Read config.go, machine.go, gates.go, command.go, budget.go, route.go, connection.go, answer.go,
// list.go, call.go, sizes.go, rest.go.
package client
