package trace

import (
	"encoding/json"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/redact"
)

// Bounds of a line.
const (
	headMax = 8 << 10 // bytes of each head
	textMax = 2 << 10 // of any other text
)

// Plan says which iterations a run samples.
type Plan struct {
	Every    uint64 // one iteration of that many, by chance
	Seed     uint64
	Workflow string
}

// Chosen reports whether to sample an iteration: a user's number counts in the whole workflow,
// and an iteration's from 1.
func (p Plan) Chosen(user, iteration uint64) bool {
	h := node.Mix(node.Mix(node.MixString(p.Seed, p.Workflow), user), iteration)
	return node.Mix(h, 0x9e3779b97f4a7c15)%p.Every == 0
}

// Iteration is one that is sampled.
type Iteration struct {
	User, Number uint64
	requests     int
}

// Next returns the place of its next request.
func (i *Iteration) Next() Place {
	i.requests++
	return Place{VU: i.User, Iteration: i.Number, Request: i.requests}
}

// Place says which request of a workflow a sample is of.
type Place struct {
	Step      string `json:"step"`
	Name      string `json:"name,omitempty"` // of a function's request
	VU        uint64 `json:"vu"`
	Iteration uint64 `json:"iteration"`
	Request   int    `json:"request"`         // its number in the iteration, from 1
	First     int    `json:"first,omitempty"` // of the request that it follows, as Cause says; 0: none
	Cause     Cause  `json:"cause,omitempty"` // empty: First is 0
}

// Cause says why a request followed another one.
type Cause string

// The causes. The first request of a chain has none.
const (
	Redirect  Cause = "redirect"
	Challenge Cause = "challenge"
	Retry     Cause = "retry"
)

// Sample is what happened to one request.
type Sample struct {
	Place
	Base     time.Time
	Due      int64 // in nanoseconds since Base, as the instants below
	Began    int64 // when the first of its phases but blocked began
	Ended    int64
	Phases   [message.PhaseReceive]int64 // by phase less one; negative: it did not happen
	Protocol string
	Method   string
	URL      string
	Status   int
	Kind     string // of its failure
	Detail   string
	Head     string // of the request, as sent
	Answer   string // the head of the response
	Out, In  int64  // bytes of the request and of its response
}

// line is a sample as the file has it.
type line struct {
	Workflow string `json:"workflow"`
	Place
	At       string           `json:"at"` // the due time
	Due      int64            `json:"due_ns"`
	Begin    int64            `json:"begin_ns"`
	End      int64            `json:"end_ns"`
	Phases   map[string]int64 `json:"phases_ns"`
	Protocol string           `json:"protocol"`
	Method   string           `json:"method"`
	URL      string           `json:"url"`
	Status   int              `json:"status"`
	Error    string           `json:"error,omitempty"`
	Detail   string           `json:"detail,omitempty"`
	Out      int64            `json:"bytes_out"`
	In       int64            `json:"bytes_in"`
	Head     []string         `json:"request_head"`
	Answer   []string         `json:"response_head"`
}

// phaseNames are those of the phases, in their order.
func phaseNames() [message.PhaseReceive]string {
	return [...]string{"blocked", "dns", "connect", "tls", "send", "wait", "receive"}
}

// append adds the sample's line to b, masked.
func (s *Sample) append(b []byte, workflow string, mask *redact.Mask) []byte {
	out := line{
		Workflow: workflow, Place: s.Place,
		At: s.Base.Add(time.Duration(s.Due)).UTC().Format(time.RFC3339Nano), Due: s.Due, Begin: s.Began, End: s.Ended, Phases: map[string]int64{},
		Protocol: s.Protocol, Method: s.Method, URL: clip(mask.Line(s.URL), textMax), Status: s.Status,
		Error: s.Kind, Detail: clip(mask.Example(s.Detail), textMax), Out: s.Out, In: s.In,
		Head: lines(mask, s.Head), Answer: lines(mask, s.Answer),
	}
	for i, name := range phaseNames() {
		if s.Phases[i] >= 0 {
			out.Phases[name] = s.Phases[i]
		}
	}
	made, err := json.Marshal(&out)
	if err != nil {
		node.Bug("trace: a line of texts and numbers: %v", err)
	}
	return append(append(b, made...), '\n')
}

// lines are those of a head. It is masked whole, before it is cut. Only a line with an address or a
// suspicious word can have what mask.Line hides beside: it is the expensive one.
func lines(mask *redact.Mask, head string) []string {
	all := strings.Split(strings.TrimRight(mask.Dump(head), "\r\n"), "\r\n")
	left := headMax
	for i, line := range all {
		if strings.Contains(line, "://") || redact.Suspicious(line) && !strings.HasSuffix(line, redact.Hidden) {
			line = mask.Line(line)
		}
		all[i] = clip(line, left)
		if left -= len(line); left <= 0 {
			return all[:i+1]
		}
	}
	return all
}

func clip(text string, most int) string {
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
