package workflow_test

import (
	"strings"
	"testing"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
)

// puller is a client whose sessions receive one message.
type puller struct{ fake }

func (p *puller) OpenSession(*request.Request, *workflow.As) (workflow.Session, error) {
	return &echoes{said: []session.Message{{Data: []byte("tea"), Type: "orders.new", ID: "there", Deliveries: 2, Sequence: 7}}}, nil
}

// A session that could pull from nothing fails its function with the place and what to write, and so does a
// message that is settled where it cannot be.
func TestWrongPulls(t *testing.T) {
	const consumer = `"nats://h", stream = "ORDERS", consumer = "c"`
	//lint:orderfree each is a call of its own
	for call, want := range map[string]string{
		`"nats://h"`:                                       `the stream is missing: write vu.nats.pull("nats://host", stream = "ORDERS", consumer = "workers")`,
		`"nats://h", "ORDERS"`:                             `the consumer is missing`,
		`"nats://h", stream = 7, consumer = "c"`:           `stream must be a text, not int 7`,
		`"nats://h", stream = "a.b", consumer = "c"`:       `stream = "a.b" is no name`,
		`"nats://h", stream = "ORDERS", consumer = ""`:     `consumer = "" is no name`,
		`"nats://h", stream = "ORDERS", consumer = "a b"`:  `consumer = "a b" is no name`,
		`"nats://h", stream = "x" * 256, consumer = "c"`:   `is no name: it has 1 to 255 bytes`,
		`"http://h", stream = "ORDERS", consumer = "c"`:    `is neither nats nor tls`,
		`7, stream = "ORDERS", consumer = "c"`:             `target must be a URL`,
		consumer + `, batch = 0`:                           `batch`,
		consumer + `, batch = 10001`:                       `10000`,
		consumer + `, batch = "10"`:                        `batch`,
		consumer + `, within = "50ms"`:                     `within is shorter than 100ms`,
		consumer + `, within = 7`:                          `within`,
		consumer + `, expect = []`:                         `expect`,
		consumer + `).ack("x"`:                             `message must be what receive() of this session returned`,
		consumer + `).ack(`:                                `the message is missing`,
		consumer + `).nak(delay = "1s"`:                    `the message is missing`,
		consumer + `).ack(delay = "1s"`:                    `delay`,
		consumer + `).nak(vu.vars["m"], delay = "soon"`:    `delay`,
		consumer + `).term(vu.vars["m"]`:                   `another session has received this message`,
		`"nats://h", "ORDERS", "c").progress(vu.vars["t"]`: `there is no message: timeout`,
	} {
		w := one(t, `other = vu.nats.pull("nats://h", "ORDERS", "c")
vu.vars["m"] = other.receive()
vu.vars["t"] = other.receive()
return vu.nats.pull(`+call+`)`)
		out := w.NewVU(1, 1, &puller{}).Call(0)
		if out.OK || !strings.Contains(out.Detail, want) {
			t.Errorf("%s: got %v %s, want %s", call, out.OK, out.Detail, want)
		}
	}
}

// A message is settled once; progress settles nothing.
func TestPulledMessages(t *testing.T) {
	w := one(t, `s = vu.nats.pull("nats://h", "ORDERS", "c", batch = 10, within = "1s", timeout = "1s", name = "take")
expect.equal(dir(s), ["ack", "close", "error", "nak", "ping", "progress", "receive", "status", "term"])
m = s.receive()
expect.equal((m.subject, m.reply, m.deliveries, m.sequence, m.error), ("orders.new", "there", 2, 7, ""))
expect.equal((s.progress(m), s.progress(m), s.nak(m, delay = "1s")), (True, True, True))
s.ack(m)
return s.close()`)
	out := w.NewVU(1, 1, &puller{}).Call(0)
	if out.OK || !strings.Contains(out.Detail, "this message is settled already") {
		t.Errorf("got %v %s", out.OK, out.Detail)
	}
}
