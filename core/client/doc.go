// Package client asks gates on behalf of one person or program: it submits,
// watches, cancels and queries jobs, and keeps at it while gates come and go.
//
// It shows nothing and decides nothing about jobs. A command is one of the
// catalogue's requests (JobSubmit, JobWatch, JobQuery, JobCancel,
// DatacenterQuery, StatusQuery) without a RequestID; answers go to Env.Answer as
// they come: JobAck, JobStatus, JobResult, JobCancelAck, DatacenterList,
// StatusList, or Refused.
//
// Source: DESIGN.md, "Jobs"; kernel decisions on requests and replies.
//
// Invariants:
//
//	C1 Every command but a watch has exactly one answer, within AskTimeout. A
//	   watch has statuses, then exactly one JobResult or Refused, and nothing
//	   after it.
//	C2 A try has a RequestID of its own; an answer to an older try is ignored.
//	C3 The statuses of a watch have rising sequences.
//	C4 A submission that may have reached a gate is sent to no other one: keys are
//	   known to the gate that took them.
//	C5 Commands, and what is remembered of jobs, are bounded.
//
// Read config.go, machine.go, command.go, connection.go, answer.go.
package client
