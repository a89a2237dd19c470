package nodetest

import (
	"fmt"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Recorder records what a node did, as lines of text.
type Recorder struct {
	// Timers records lines of SetTimer and CancelTimer too.
	Timers bool
	// Hidden names messages and events whose lines are omitted.
	Hidden map[string]bool
	// Discard records no lines at all; the Watch functions still get everything.
	Discard bool
	// WatchEvent, if set, gets every event, and WatchDatagram every datagram, at once. They
	// serve tests that keep a model, or play the other nodes.
	WatchEvent    func(node.Event)
	WatchDatagram func(to node.Addr, m node.Message)

	lines   []string
	values  []value
	text    Text
	scratch []byte
}

// value is a message and its digest at that time.
type value struct {
	message node.Message
	digest  uint64
}

func (r *Recorder) line(format string, args ...any) {
	if !r.Discard {
		r.lines = append(r.lines, fmt.Sprintf(format, args...))
	}
}

func (r *Recorder) show(name string) bool { return !r.Discard && !r.Hidden[name] }

// Take returns the lines since the last Take, each ended by a newline.
func (r *Recorder) Take() string {
	r.verify()
	if len(r.lines) == 0 {
		return ""
	}
	s := strings.Join(r.lines, "\n") + "\n"
	r.lines = r.lines[:0]
	return s
}

// verify checks that no message changed after it was sent or delivered.
func (r *Recorder) verify() {
	for _, v := range r.values {
		if got := v.message.Digest(); got != v.digest {
			node.Bug("nodetest: %s was changed after it was handed over: digest %x, was %x", message.NameOf(v.message), got, v.digest)
		}
	}
	r.values = r.values[:0]
}

// keep checks that a message can cross a wire and records its digest.
func (r *Recorder) keep(m node.Message) {
	c, scratch, err := message.Clone(m, r.scratch)
	r.scratch = scratch
	if err != nil {
		node.Bug("nodetest: a message that cannot cross a wire: %v", err)
	}
	if c.Digest() != m.Digest() {
		node.Bug("nodetest: %s has another digest after the wire", message.NameOf(m))
	}
	r.values = append(r.values, value{m, m.Digest()})
}

// Emit implements node.Env.
func (r *Recorder) Emit(v node.Event) {
	if r.WatchEvent != nil {
		r.WatchEvent(v)
	}
	if r.show(v.EventName()) {
		r.line("! %s%s", v.EventName(), r.text.fields(v))
	}
}

// Datagram implements node.Env.
func (r *Recorder) Datagram(to node.Addr, m node.Message) {
	r.keep(m)
	if r.WatchDatagram != nil {
		r.WatchDatagram(to, m)
	}
	if r.show(message.NameOf(m)) {
		r.line("-> %s (datagram) %s", to, r.text.Message(m))
	}
}
