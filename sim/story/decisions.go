package story

import (
	"fmt"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

const (
	good = ' '
	bad  = '!'
)

// decision describes an event that a machine emitted; the mark is '!' for failures.
func decision(e node.Event) (mark byte, text string) {
	switch e := e.(type) {
	case event.JobChanged:
		return job(e)
	case event.SubjobChanged:
		return good, fmt.Sprintf("its subjob is %s%s, fence %v", step(e.From, e.To), because(e.Reason), e.Fence)
	case event.WorkflowChanged:
		return good, fmt.Sprintf("workflow %d is %s%s", e.Workflow, stepOfWorkflow(e.From, e.To), because(e.Reason))
	case event.Acted:
		return good, acted(e)
	case event.FenceRefused:
		return bad, fmt.Sprintf("refuses the %s of %s: fence %v is stale, %v holds it", e.What, unit(e.Shard, e.Subjob), e.Got, e.Current)
	case event.ShardStarted:
		return good, fmt.Sprintf("accepts %s under fence %v, on cores %s of %d", slice(e.Shard), e.Fence, cores(e.Cores), e.Total)
	case event.CoreFreed:
		return good, fmt.Sprintf("the executor of %s on core %d has ended, and the core is free", slice(e.Shard), e.Core)
	case event.ShardEnded:
		return good, fmt.Sprintf("%s under fence %v ends %v%s, cores %s are free", slice(e.Shard), e.Fence, e.State, because(e.Reason), cores(e.Cores))
	case event.ShardCounted:
		return good, fmt.Sprintf("counts the result of %s under fence %v: %v, %d started", slice(e.Shard), e.Fence, e.State, e.Started)
	case event.SegmentCounted:
		return good, fmt.Sprintf("counts the last report of %s under fence %v, which is lost: %d started", slice(e.Shard), e.Fence, e.Started)
	case event.SubjobCounted:
		return good, fmt.Sprintf("counts the result of %s from %s under fence %v: %v, %d started", e.Datacenter, e.Manager, e.Fence, e.State, e.Started)
	case event.SubjobGivenUp:
		return bad, fmt.Sprintf("ends the part of %s without its result: %v, %d started as far as it knows", e.Datacenter, e.State, e.Started)
	case event.SubjobLate:
		return bad, fmt.Sprintf("gets the result of %s too late: %v, %d started, and it counts nowhere", e.Datacenter, e.State, e.Started)
	case event.ShardDispatched:
		return again(e.Fence.Attempt), fmt.Sprintf("dispatches %s%s to %s under fence %v, %d virtual users on %d cores", slice(e.Shard), repeated(e.Fence.Attempt), e.Worker, e.Fence, e.VUs, e.Cores)
	case event.ShardLost:
		return bad, fmt.Sprintf("gives up %s on %s under fence %v%s", slice(e.Shard), e.Worker, e.Fence, because(e.Reason))
	case event.SubjobDispatched:
		return again(e.Fence.SubjobEpoch), fmt.Sprintf("dispatches the part of %s%s to %s under fence %v", e.Datacenter, repeated(e.Fence.SubjobEpoch), e.Manager, e.Fence)
	case event.ExecutorGone:
		return bad, fmt.Sprintf("the executor of core %d for %s under fence %v is gone%s", e.Core, slice(e.Shard), e.Fence, because(e.Reason))
	}
	return good, e.EventName()
}

func job(e event.JobChanged) (byte, string) {
	mark := byte(good)
	if e.To == message.JobFailed || e.To == message.JobPartial || e.To == message.JobTimedOut {
		mark = bad
	}
	if e.From == message.JobNone {
		return mark, fmt.Sprintf("accepts the job: it is %v%s", e.To, because(e.Reason))
	}
	return mark, fmt.Sprintf("the job is %v, it was %v%s", e.To, e.From, because(e.Reason))
}

// step names both states, or only the new one if there was none before.
func step(from, to message.JobState) string {
	if from == message.JobNone || from == to {
		return to.String()
	}
	return fmt.Sprintf("%v, it was %v", to, from)
}

func stepOfWorkflow(from, to message.WorkflowState) string {
	if from == message.WorkflowNone || from == to {
		return to.String()
	}
	return fmt.Sprintf("%v, it was %v", to, from)
}

func acted(e event.Acted) string {
	return fmt.Sprintf("obeys the %s of %s under fence %v", e.What, unit(e.Shard, e.Subjob), e.Fence)
}

func unit(s message.ShardID, part bool) string {
	if part {
		return "its part"
	}
	return slice(s)
}

func repeated(attempt uint64) string {
	if attempt > 1 {
		return " again"
	}
	return ""
}

func again(attempt uint64) byte {
	if attempt > 1 {
		return bad
	}
	return good
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// cores writes indices briefly: "0-3, 7".
func cores(all []int) string {
	if len(all) == 0 {
		return "none"
	}
	var parts []string
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", all[i], all[j]))
		} else {
			parts = append(parts, fmt.Sprint(all[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
