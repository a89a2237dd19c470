package flood

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// Config is a flood.
type Config struct {
	Gates       []string // host:port; connections take turns
	Cluster     string
	From        string // local address; empty: the system chooses
	Connections int
	Rate        int  // requests a second of all connections
	Jobs        int  // how many different ones it submits; 0: each another one
	Hostile     bool // a third of the connections sends what no client may
	Plain       bool // it only submits and asks for jobs
	Seed        uint64
}

// Report is what a flood did.
type Report struct {
	Sent    map[string]int `json:"sent"`    // frames, by kind
	Answers map[string]int `json:"answers"` // by kind, refusals by code
	Opened  int            `json:"opened"`
	Ended   int            `json:"ended"` // by the gate
}

// Answered is how many requests were answered with what they asked for, and how many refused.
func (r *Report) Answered() (served, refused int) {
	//lint:orderfree sums
	for what, n := range r.Answers {
		if _, code := cut(what); code != "" {
			refused += n
		} else {
			served += n
		}
	}
	return served, refused
}

// Add counts what another flood did as well.
func (r *Report) Add(o *Report) {
	if r.Sent == nil {
		r.Sent, r.Answers = map[string]int{}, map[string]int{}
	}
	//lint:orderfree sums
	for what, n := range o.Sent {
		r.Sent[what] += n
	}
	//lint:orderfree sums
	for what, n := range o.Answers {
		r.Answers[what] += n
	}
	r.Opened, r.Ended = r.Opened+o.Opened, r.Ended+o.Ended
}

// tally counts for all connections.
type tally struct {
	mu sync.Mutex
	Report
}

func (t *tally) sent(what string) {
	t.mu.Lock()
	t.Sent[what]++
	t.mu.Unlock()
}

func (t *tally) answered(what string) {
	t.mu.Lock()
	t.Answers[what]++
	t.mu.Unlock()
}

// Run floods until ctx ends.
func Run(ctx context.Context, c Config) (*Report, error) {
	program := message.Program{Main: "flood.star", Files: []message.File{{Name: "flood.star", Data: []byte(Workflow)}}, Duration: time.Second, Seed: 1}
	loaded, err := workflow.Load(program)
	if err != nil {
		return nil, fmt.Errorf("load the flood's workflow: %w", err)
	}
	t := &tally{Report: Report{Sent: map[string]int{}, Answers: map[string]int{}}}
	var all sync.WaitGroup
	for i := range c.Connections {
		one := &client{
			config: &c, tally: t, number: i, habit: habitOf(i, c.Hostile), gate: c.Gates[i%len(c.Gates)],
			draw: rand.New(rand.NewPCG(c.Seed, uint64(i))), program: program, plan: loaded.Plan(),
		}
		all.Go(func() { one.live(ctx) })
	}
	all.Wait()
	return &t.Report, nil
}

// Workflow is what floods submit. Its one user thinks for as long as it lasts, since its executor
// may share the gates' processors.
const Workflow = `workflow(
    name = "main",
    vus = 1,
    duration = "1s",
    think = "1s",
    steps = [step("home", http.get("http://127.0.0.1:9/"))],
)
`

// habit is how a connection behaves.
type habit int

const (
	asks      habit = iota // sends requests, and reads all answers
	deaf                   // sends requests, and reads nothing
	babbles                // says Hello, then garbage
	strange                // never says Hello
	pretends               // says Hello as a client, and sends what only nodes may
	stalls                 // sends the beginning of a large frame, and waits
	habits                 // how many there are
	hostileOf = 3 * int(habits-1)
)

// habitOf makes a third of the connections hostile, in equal parts.
func habitOf(i int, hostile bool) habit {
	if n := i % hostileOf; hostile && n < int(habits-1) {
		return asks + 1 + habit(n)
	}
	return asks
}

func (h habit) String() string {
	return [...]string{"asks", "deaf", "babbles", "strange", "pretends", "stalls"}[h]
}

// cut splits what an answer was counted under.
func cut(what string) (kind, code string) {
	const refused = "Refused "
	if len(what) > len(refused) && what[:len(refused)] == refused {
		return "Refused", what[len(refused):]
	}
	return what, ""
}

func itoa(n int) string { return strconv.Itoa(n) }
