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

// What udp.exchange says, and what it refuses with a remedy.
func TestUDP(t *testing.T) {
	same := func(count, at, sentAt int) request.DatagramMatch {
		return request.DatagramMatch{Count: count, At: at, SentAt: sentAt}
	}
	for _, tt := range []struct {
		args, want string
		receive    int
		match      request.DatagramMatch
	}{
		{args: `"udp://h:53", send = hex.decode("00ff"), match = udp.same(2), timeout = "1s", retry = retry(2)`, receive: 1, match: same(2, 0, 0)},
		{args: `"udp://[::1]:53", send = "abc", match = udp.same(2, at = 1)`, receive: 1, match: same(2, 1, 1)},
		{args: `"udp://h:123", send = "x" * 48, match = udp.same(8, at = 24, sent_at = 40)`, receive: 1, match: same(8, 24, 40)},
		{args: `"udp://h:8125", send = "a:1|c", receive = 0`},
		{args: `"udp://h:7", send = "x" * 65507, receive = 1000`, receive: 1000},
		{args: `"udp://h:7"`, want: "sends nothing"},
		{args: `"udp://h:7", send = ""`, want: "1 to 65507 bytes"},
		{args: `"udp://h:7", send = "x" * 65508`, want: "send less, or use tcp.exchange"},
		{args: `"udp://h", send = "a"`, want: "has no port"},
		{args: `"tcp://h:7", send = "a"`, want: "is not of udp"},
		{args: `"udp://h:7", send = {"a": 1}`, want: "json.encode"},
		{args: `"udp://h:7", send = "a", receive = -1`, want: "0"},
		{args: `"udp://h:7", send = "a", receive = 1001`, want: "1000"},
		{args: `"udp://h:7", send = "a", receive = tcp.line()`, want: "receive"},
		{args: `"udp://h:7", send = "a", match = 2`, want: "match = udp.same(2)"},
		{args: `"udp://h:7", send = "a", match = udp.same(2)`, want: "match fewer bytes"},
		{args: `"udp://h:7", send = "ab", match = udp.same(2), receive = 0`, want: "take match out"},
		{args: `"udp://h:7", send = "ab", match = udp.same(0)`, want: "count"},
		{args: `"udp://h:7", send = "ab", match = udp.same()`, want: "write udp.same(2)"},
		{args: `"udp://h:7", send = "ab", match = udp.same(1, at = -1)`, want: "at"},
		{args: `"udp://h:7", send = "ab", match = udp.same(1, sent_at = 65507)`, want: "sent_at"},
		{args: `"udp://h:7", send = "a", timeout = 1`, want: "a duration"},
	} {
		text := fmt.Sprintf("workflow(name = \"w\", steps = [step(\"s\", udp.exchange(%s))])", tt.args)
		p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %q", tt.args, err, tt.want)
		case err == nil:
			s := p.Workflow("w").Steps[0]
			if d := s.Request.Datagram; s.Plan.Protocol != plan.ProtocolUDP || d == nil || d.Receive != tt.receive || d.Match != tt.match {
				t.Errorf("%s: got %+v", tt.args, d)
			}
		}
	}
}

// What only a run can fill is judged there; a proxy carries no datagrams; measures of UDP stand in thresholds.
func TestUDPBeside(t *testing.T) {
	//lint:orderfree each by itself
	for text, want := range map[string]string{
		`steps = [step("a", udp.exchange("udp://h:7", send = "aa"), extract = {"v": regex("(a)")}), step("b", udp.exchange("udp://h:7", send = "${v}", match = udp.same(9)))]`: "",
		`steps = [step("a", udp.exchange("udp://h:7", send = "a"))], http = http.client(proxy = "http://p:1")`:                                                                 "goes to udp:// through a proxy",
		`steps = [step("a", udp.exchange("udp://h:7", send = "a"))], thresholds = ["a.datagrams_lost < 9", "a.first_message.p99 < 1s"]`:                                        "",
		`steps = [step("a", tcp.exchange("tcp://h:7", send = "a"))], thresholds = ["a.datagrams_late < 9"]`:                                                                    "udp requests do",
	} {
		_, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte("workflow(name = \"w\", " + text + ")")}}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
