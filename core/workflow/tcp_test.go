package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
)

// What tcp.exchange says, and what it refuses with a remedy.
func TestTCP(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`"tcp://h:7", send = "ping\n", receive = tcp.line()`, ""},
		{`"tcps://h:7", send = b"\x00", receive = tcp.prefixed(4)`, ""},
		{`"tcp://h:7", receive = tcp.until(b"\r\n"), timeout = "1s", retry = retry(2)`, ""},
		{`"tcp://h:7", send = hex.decode("00ff"), receive = tcp.bytes(12)`, ""},
		{`"tcp://h:7", send = "bye"`, ""},
		{`"tcp://h:7", receive = tcp.closed()`, ""},
		{`"tcp://h:7"`, "neither sends nor receives"},
		{`"tcp://h", send = "a"`, "has no port"},
		{`"http://h/", send = "a"`, "neither tcp nor tcps"},
		{`"tcp://h:7", send = {"a": 1}`, "json.encode"},
		{`"tcp://h:7", send = "a", receive = 1`, "receive = tcp.line()"},
		{`"tcp://h:7", receive = tcp.prefixed(3)`, "1, 2, 4 or 8"},
		{`"tcp://h:7", receive = tcp.bytes(0)`, "1"},
		{`"tcp://h:7", receive = tcp.until("")`, "0 bytes"},
		{`"tcp://h:7", receive = tcp.line(1)`, "takes no argument"},
		{`"tcp://h:7", send = "a", timeout = 1`, "a duration"},
	} {
		text := fmt.Sprintf("workflow(name = \"w\", steps = [step(\"s\", tcp.exchange(%s))])", tt.args)
		p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %q", tt.args, err, tt.want)
		case err == nil:
			s := p.Workflow("w").Steps[0]
			if s.Plan.Protocol != plan.ProtocolTCP || s.Request.Raw == nil || (s.Request.Raw.Receive.Kind == request.FramingNone) != !strings.Contains(tt.args, "receive") {
				t.Errorf("%s: got %+v", tt.args, s.Request.Raw)
			}
		}
	}
}

// A measure of exchanges may stand in a threshold of either protocol that has it.
func TestThresholdsOfTCP(t *testing.T) {
	//lint:orderfree each by itself
	for threshold, want := range map[string]string{"s.first_message.p99 < 1s": "", "s.messages_received > 1": "", "s.events > 1": "sse requests do"} {
		text := fmt.Sprintf("workflow(name = \"w\", steps = [step(\"s\", tcp.exchange(\"tcp://h:7\", send = \"a\"))], thresholds = [%q])", threshold)
		_, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", threshold, err, want)
		}
	}
}
