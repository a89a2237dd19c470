package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// Code names the reason of a rejection. Values are on the wire: never renumber.
type Code uint16

// The catalogue of rejections; Text, Retryable and Remedy describe each.
const (
	CodeNone Code = iota
	CodeStaleFence
	CodeUnknownJob
	CodeUnknownDatacenter
	CodeNoDatacenter
	CodeKeyMismatch
	CodeQueueFull
	CodeNoCores
	CodeBadPlan
	CodeDraining
	CodeStoreFull
	CodeTooLarge
	CodeNotOwner
	CodeInternal
	CodeUnreachable
	CodeQuorumUnavailable
	CodeQuorumTimeout
	CodeCircuitOpen
	CodeGateSet
	CodeNotMember
	CodeNotRenewed
	CodeResultForgotten
	CodeUnknownWorkflow
	CodeOverloaded
	CodeRateLimited
	CodeNoLetter
	CodeForbidden
	CodeVersion
	CodeSeatKept
	CodeUnknownSink
	codeEnd
)

type codeEntry struct {
	text      string
	retryable bool
	remedy    string
}

func (c Code) entry() codeEntry {
	switch c {
	case CodeStaleFence:
		return codeEntry{"stale fence", false, "fetch the job's owner and retry under its fence"}
	case CodeUnknownJob:
		return codeEntry{"unknown job", false, "check the id, or whether its results were reaped"}
	case CodeUnknownDatacenter:
		return codeEntry{"unknown datacenter", false, "list them with `hyperscale datacenters`"}
	case CodeNoDatacenter:
		return codeEntry{"no datacenter is ready", true, "start managers and workers, or wait until they have registered"}
	case CodeKeyMismatch:
		return codeEntry{"this key was used for another payload", false, "choose another --key, or submit the same file and parameters"}
	case CodeQueueFull:
		return codeEntry{"no room for one more job", true, "retry after the time given, or add workers"}
	case CodeNoCores:
		return codeEntry{"no free cores", true, "wait for running workflows to end, or add workers"}
	case CodeBadPlan:
		return codeEntry{"the plan does not fit its program", false, "use the same version of hyperscale at both ends"}
	case CodeDraining:
		return codeEntry{"the node is draining", true, "ask another node"}
	case CodeStoreFull:
		return codeEntry{"the disk refuses writes", true, "free space under --data"}
	case CodeTooLarge:
		return codeEntry{"too large", false, "make the program smaller than 512 KiB"}
	case CodeNotOwner:
		return codeEntry{"another node owns it", true, "ask the one that is named"}
	case CodeInternal:
		return codeEntry{"internal error", false, "see the node's log"}
	case CodeUnreachable:
		return codeEntry{"no gate answers", true, "check --gate and that a gate listens there"}
	case CodeQuorumUnavailable:
		return codeEntry{"no majority of the configured gates is reachable", true, "start the missing gates, or mend the network between them"}
	case CodeQuorumTimeout:
		return codeEntry{"a majority of the gates did not answer in time", true, "submit again under the same key: it may have been taken"}
	case CodeCircuitOpen:
		return codeEntry{"too many quorums have failed of late", true, "retry after the time given"}
	case CodeGateSet:
		return codeEntry{"the configured sets differ", false, "give all nodes the same --gates (and managers of a datacenter the same --managers)"}
	case CodeNotMember:
		return codeEntry{"the node is joining and answers nothing yet", true, "ask another one, or wait until its disk has caught up"}
	case CodeNotRenewed:
		return codeEntry{"the worker has had no answer to its heartbeats of late", true, "dispatch it to another worker, or after the next heartbeat"}
	case CodeResultForgotten:
		return codeEntry{"the result is no longer kept", false, "watch a job while it runs, or raise gate.results_max, gate.result_bytes_max or gate.result_age"}
	case CodeUnknownWorkflow:
		return codeEntry{"unknown workflow", false, "name a workflow of the job's file"}
	}
	return c.later()
}

// later describes the rejections that refer to load, rights and versions.
func (c Code) later() codeEntry {
	switch c {
	case CodeOverloaded:
		return codeEntry{"the node has more work than it can take", true, "retry after the time given, or ask another node"}
	case CodeRateLimited:
		return codeEntry{"too many requests of one source", true, "retry after the time given, and send fewer"}
	case CodeNoLetter:
		return codeEntry{"the job is no dead letter", false, "list those that can be replayed with `hyperscale jobs --dead`"}
	case CodeForbidden:
		return codeEntry{"the client's certificate does not allow it", false, "use a certificate with the right that is named (--tls-cert), or ask an operator of the cluster"}
	case CodeVersion:
		return codeEntry{"another version of the protocol is needed", false, "upgrade the node that is named: `hyperscale upgrade status` lists the versions"}
	case CodeSeatKept:
		return codeEntry{"the set stays as it is", false, "stop the node that leaves first, and replace one member at a time while all others are ready: `hyperscale members list` and `hyperscale status --cluster` show them"}
	case CodeUnknownSink:
		return codeEntry{"the job's outputs do not fit the gates", false, "name a sink that is known, or add it to outputs: of every gate"}
	}
	return codeEntry{"unknown code", false, "use the same version of hyperscale at both ends"}
}

// String says in a few words what is wrong.
func (c Code) String() string { return c.entry().text }

// Retryable reports whether the same request can succeed later.
func (c Code) Retryable() bool { return c.entry().retryable }

// Everywhere reports whether a request that one gate rejects with this code is over once all have
// been asked: to ask them again helps nothing.
func (c Code) Everywhere() bool {
	return c == CodeResultForgotten || c == CodeNoLetter || c == CodeVersion
}

// Remedy says what the receiver can do.
func (c Code) Remedy() string { return c.entry().remedy }
