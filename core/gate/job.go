package gate

import (
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// entry is a job at this gate: what it is, which writes are on their way, who waits.
type entry struct {
	job.Job
	open    []*put // writes that no majority has confirmed, the oldest first
	waiting audience.Waiting
}

// tell emits the transitions up to the given count, which are on a majority now.
func tell(env node.Env, j *entry, upTo int) {
	for _, t := range j.Confirm(upTo) {
		emit(env, j.ID, t)
	}
}

func emit(env node.Env, id message.JobID, t job.Transition) {
	env.Emit(event.JobChanged{Job: id, From: t.From, To: t.To, Reason: t.Reason})
}

// reached counts a rare state: a swarm names those that it never visited.
func reached(env node.Env, what string) { env.Emit(event.Reached{What: what}) }
