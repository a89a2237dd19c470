package lab

import (
	"time"

	"hyperscale/core/node"
)

// Column is one algorithm.
type Column struct {
	Name string
	What string
	new  func(workers int) control
}

// Columns returns all algorithms, ours last. Parameters are the published ones.
func Columns() []Column {
	return []Column{
		{"none", "a first-in first-out queue without a bound that matters", func(int) control { return plain{} }},
		{"tail drop", "refuses while 100 requests wait, Tomcat's default (acceptCount)", func(int) control { return &tail{bound: 100} }},
		{"CoDel", "folly: if the least wait of 100 ms was above 5 ms, drops at dequeue what waited 10 ms", func(int) control { return &codel{fresh: true} }},
		{"Gradient2", "Netflix: limit of requests in flight by the gradient of long and short latency, 20 to 200", func(int) control { return newGradient2() }},
		{"Envoy", "limit in flight by the gradient to the least latency, measured each minute at 3 in flight", func(int) control { return newEnvoy() }},
		{"AIMD", "Netflix: limit in flight, +1 an answer, x 0.9 a drop or an answer later than 100 ms", func(int) control { return &aimd{limit: 10} }},
		{"DAGOR", "WeChat: mean wait above 20 ms lowers an admission level of class and user by 5 %, else + 1 %; late requests are dropped at dequeue", func(int) control { return newDagor() }},
		{"ours", "core/admission", func(workers int) control { return newOurs(workers) }},
	}
}

// sheddingByLevel is ours with a table that refuses classes: what a level must not do.
func sheddingByLevel() Column {
	return Column{"classes shed", "ours, and a stressed server refuses all that is normal", func(workers int) control { return sheds{newOurs(workers)} }}
}

// bareDAGOR serves what is late, too.
func bareDAGOR() Column {
	return Column{"DAGOR, bare", "", func(int) control {
		d := newDagor()
		d.bare = true
		return d
	}}
}

// plain admits all.
type plain struct{}

func (plain) admit(node.Instant, *request) bool                        { return true }
func (plain) begin(node.Instant, *request) bool                        { return true }
func (plain) end(node.Instant, *request, time.Duration, time.Duration) {}
func (plain) answer(node.Instant, *request, time.Duration, bool)       {}
func (plain) tick(node.Instant)                                        {}
func (plain) ahead(node.Instant, node.Priority) outlook                { return outlook{} }
func (plain) hear(node.Instant, outlook)                               {}
func (plain) lane(node.Priority) node.Priority                         { return node.Normal }

// tail bounds the queue.
type tail struct {
	plain
	bound, waiting int
}

func (t *tail) admit(node.Instant, *request) bool {
	if t.waiting >= t.bound {
		return false
	}
	t.waiting++
	return true
}

func (t *tail) begin(node.Instant, *request) bool {
	t.waiting--
	return true
}

// codel is folly/executors/Codel.cpp.
type codel struct {
	plain
	least      time.Duration
	until      node.Instant
	fresh      bool
	overloaded bool
}

const (
	codelTarget   = 5 * time.Millisecond
	codelInterval = 100 * time.Millisecond
)

func (c *codel) begin(now node.Instant, r *request) bool {
	waited := now.Sub(r.reached[r.stage])
	if now > c.until && !c.fresh {
		c.until, c.fresh = now.Add(codelInterval), true
		c.overloaded = c.least > codelTarget
	}
	if c.fresh {
		c.fresh, c.least = false, waited
		return true
	}
	c.least = min(c.least, waited)
	return !c.overloaded || waited <= 2*codelTarget
}
