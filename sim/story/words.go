package story

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// underWay is how long a message may take before it counts as lost at the end of a run.
const underWay = time.Second

// word describes a moment; it returns false for moments that say nothing new.
func (r *Recorder) word(m *moment, involved map[node.ID]bool) (line, bool) {
	l := line{at: m.at, mark: ' ', node: string(m.node)}
	switch m.kind {
	case kindSends:
		if !m.journey.Lost() {
			return l, false
		}
		l.text = fmt.Sprintf("sends %s to %s: ", noun(m.message), r.tracker.Called(m.journey))
		if r.end-m.at < underWay {
			l.text += "it is on its way when the run ends"
		} else {
			l.mark = '!'
			l.text += "it never arrives"
		}
	case kindGets:
		l.text = got(m.message, string(m.journey.From))
		if m.journey.Copy() {
			l.text += " (a second copy)"
		}
	case kindEvent:
		l.mark, l.text = decision(m.event)
	case kindAsked:
		l.text = "is asked by its user " + wish(m.message)
	case kindAnswer:
		l.text = "tells its user: " + news(m.message)
	case kindExec:
		l.text = fmt.Sprintf("starts an executor on core %d", m.n)
		if s, ok := m.message.(*message.ExecStart); ok {
			l.text += fmt.Sprintf(" for %s, %d virtual users", slice(s.Shard), s.VUs)
		}
	case kindStart:
		l.mark, l.text = '!', fmt.Sprintf("starts again, incarnation %d", m.n)
	case kindHalt:
		l.mark, l.text = '!', "ends itself"
		if m.reason != "" {
			l.text += ": " + m.reason
		}
	case kindFault:
		l.mark, l.node, l.text = '!', whom(&m.fault, involved), fault(&m.fault)
	}
	return l, true
}

func slice(s message.ShardID) string { return fmt.Sprintf("shard %d/%d", s.Workflow, s.Ordinal) }

// noun names a message by its meaning for the job.
func noun(m node.Message) string {
	switch m := m.(type) {
	case *message.JobSubmit:
		return "the submission"
	case *message.JobDispatch:
		return fmt.Sprintf("a subjob under fence %v", m.Fence)
	case *message.JobRefused:
		return fmt.Sprintf("a refusal of the part under fence %v", m.Fence)
	case *message.SubjobResult:
		return fmt.Sprintf("the part's result (%v, fence %v)", m.Subjob.State, m.Fence)
	case *message.SubjobCancel:
		return fmt.Sprintf("the order to end the part (%v, fence %v)", m.State, m.Fence)
	case *message.ShardDispatch:
		return fmt.Sprintf("%s under fence %v", slice(m.Shard), m.Fence)
	case *message.ShardRefused:
		return fmt.Sprintf("a refusal of %s under fence %v", slice(m.Shard), m.Fence)
	case *message.ShardResult:
		return fmt.Sprintf("the result of %s (%v, fence %v)", slice(m.Shard), m.State, m.Fence)
	case *message.ShardCancel:
		return fmt.Sprintf("the order to end %s (%v, fence %v)", slice(m.Shard), m.State, m.Fence)
	case *message.JobResult:
		return "the job's result"
	}
	return message.NameOf(m)
}

// got describes the arrival of a message.
func got(m node.Message, from string) string {
	switch m := m.(type) {
	case *message.JobSubmit:
		return fmt.Sprintf("gets the submission from %s", from)
	case *message.JobAck:
		return fmt.Sprintf("hears from %s that %s", from, news(m))
	case *message.Refused:
		return fmt.Sprintf("is refused by %s: %v%s", from, m.Code, detail(m.Detail))
	case *message.JobWatch:
		return fmt.Sprintf("is asked by %s to tell it of the job", from)
	case *message.JobQuery:
		return fmt.Sprintf("is asked by %s where the job stands", from)
	case *message.JobResult:
		return fmt.Sprintf("gets the job's result from %s: %v", from, m.Result.State)
	case *message.JobCancel:
		return fmt.Sprintf("is asked by %s to cancel the job", from)
	case *message.JobCancelAck:
		return fmt.Sprintf("hears from %s that %s", from, news(m))
	case *message.JobDispatch:
		return fmt.Sprintf("gets its subjob from %s under fence %v", from, m.Fence)
	case *message.JobAccepted:
		return fmt.Sprintf("hears that %s has accepted the part under fence %v", from, m.Fence)
	case *message.JobRefused:
		return fmt.Sprintf("hears that %s refuses the part under fence %v: %v%s", from, m.Fence, m.Code, detail(m.Detail))
	case *message.SubjobResultAck:
		return fmt.Sprintf("hears that %s %s", from, kept(m.Stale, "the part's result", m.Fence))
	case *message.ShardAccepted:
		return fmt.Sprintf("hears that %s has accepted %s under fence %v", from, slice(m.Shard), m.Fence)
	case *message.ShardRefused:
		return fmt.Sprintf("hears that %s refuses %s under fence %v: %v%s", from, slice(m.Shard), m.Fence, m.Code, detail(m.Detail))
	case *message.ShardResultAck:
		return fmt.Sprintf("hears that %s %s", from, kept(m.Stale, "the result of "+slice(m.Shard), m.Fence))
	case *message.ShardDispatch:
		return fmt.Sprintf("gets %s from %s under fence %v: %d virtual users on %d cores", slice(m.Shard), from, m.Fence, m.VUs, m.Cores)
	}
	return fmt.Sprintf("gets %s from %s", noun(m), from)
}

func kept(stale bool, what string, f message.Fence) string {
	if stale {
		return fmt.Sprintf("does not want %s: fence %v is stale", what, f)
	}
	return fmt.Sprintf("has %s under fence %v", what, f)
}

func detail(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// wish describes a user's command.
func wish(m node.Message) string {
	switch m := m.(type) {
	case *message.JobSubmit:
		return fmt.Sprintf("to submit the job, key %q", m.Key)
	case *message.JobWatch:
		return "to watch the job"
	case *message.JobCancel:
		return "to cancel the job"
	}
	return "for " + message.NameOf(m)
}

// news describes a client's answer.
func news(m node.Message) string {
	switch m := m.(type) {
	case *message.JobAck:
		if m.Duplicate {
			return "the job is accepted, it was known by its key"
		}
		return "the job is accepted"
	case *message.JobResult:
		return fmt.Sprintf("the job is %v", m.Result.State)
	case *message.JobCancelAck:
		return fmt.Sprintf("the job is %v", m.State)
	}
	return message.NameOf(m)
}
