package talk

import (
	"time"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/custom"
	"hyperscale/runtime/protocol/http1"
)

// program is custom.call. No connection carries it: runtime/engine/program asks Call, and tells Replied.
type program struct{ operation *custom.Operation }

var _ verb = (*program)(nil)

func (p *program) open() codec.Opening                            { return codec.Opening{} }
func (p *program) say(*Exchange, codec.Dialogue) error            { return nil }
func (p *program) hear(*Exchange, codec.MessageKind, []byte) bool { return true }
func (p *program) deaf() bool                                     { return false }
func (p *program) status() uint16                                 { return 200 }
func (p *program) protocol() string                               { return "a custom program" }
func (p *program) left(uint16, string) error                      { return nil }

// custom prepares a call.
func (p *Plan) custom(r *request.Request) {
	p.verb = &program{operation: custom.Compile(r.Custom.Call, customParts(string(r.Body), r.Placeholders))}
	p.Host, p.Shown, p.coded = ProgramHost(r.Custom)
	p.Shown.Method = r.Method
}

// ProgramHost is the destination of a program's calls.
func ProgramHost(c *request.Custom) (pool.TalkHost, http1.Call, bool) {
	url := c.URL()
	return pool.TalkHost{Key: c.Key(), Over: pool.OverProgram}, http1.Call{Scheme: "custom", Host: url[len("custom://") : len(url)-1]}, true
}

// customParts cuts a call's arguments where placeholders stand in them.
func customParts(body string, all []request.Placeholder) (parts []custom.Part) {
	for _, part := range sqlArgument(body, all) {
		parts = append(parts, custom.Part{Text: part.Text, Value: part.Value})
	}
	return parts
}

// Call queues the exchange's call, and returns its place.
func (x *Exchange) Call(c *custom.Conn, tag uint64, within time.Duration) (int32, error) {
	x.said = x.stock.clock.Now
	of := x.plan.verb.(*program)
	if x.stock.show != nil {
		x.stock.show("> ", of.operation.Show(nil, x.values))
	}
	return c.Operate(of.operation, custom.Order{Tag: tag, User: x.user &^ Beside, Timeout: within, Values: x.values, Sent: &x.account.Sent})
}

// Replied takes the answer to the call, of a program whose measures have names.
func (x *Exchange) Replied(a *custom.Answer, names []string) {
	x.enough, x.wrong, x.replied = true, a.Err, uint16(a.Status)
	for _, m := range a.Measures {
		x.account.Customs().Add(names[m.At], m.N)
	}
	x.keep(a.Body)
}
