package natstest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Client speaks to the server in lines.
type Client struct {
	s *Server
	c net.Conn
	r *bufio.Reader
}

// Dial connects; as is what CONNECT says beside headers, such as `"user":"a","pass":"b"`.
func (s *Server) Dial(as string) *Client {
	s.tb.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = c.Close() })
	if as != "" {
		as = "," + as
	}
	n := &Client{s: s, c: c, r: bufio.NewReader(c)}
	n.line("INFO")
	n.say("CONNECT {\"verbose\":false,\"headers\":true%s}\r\nPING\r\n", as)
	n.line("PONG")
	return n
}

func (n *Client) say(format string, values ...any) {
	n.s.tb.Helper()
	if _, err := fmt.Fprintf(n.c, format, values...); err != nil {
		n.s.tb.Fatal(err)
	}
}

// line reads up to a line that begins with a word.
func (n *Client) line(word string) string {
	n.s.tb.Helper()
	for {
		text, err := n.r.ReadString('\n')
		if err != nil {
			n.s.tb.Fatalf("read %s: %v", word, err)
		}
		if strings.HasPrefix(text, word) {
			return strings.TrimSpace(text)
		}
	}
}

// Publish sends a message, and waits until the server has it.
func (n *Client) Publish(subject, data string) {
	n.s.tb.Helper()
	n.say("PUB %s %d\r\n%s\r\nPING\r\n", subject, len(data), data)
	n.line("PONG")
}

// Ask sends a request and returns its reply.
func (n *Client) Ask(subject, data string) string {
	n.s.tb.Helper()
	n.say("SUB _INBOX.test 9\r\nUNSUB 9 1\r\nPUB %s _INBOX.test %d\r\n%s\r\n", subject, len(data), data)
	words := strings.Fields(n.line("MSG"))
	size, _ := strconv.Atoi(words[len(words)-1])
	b := make([]byte, size+2)
	if _, err := io.ReadFull(n.r, b); err != nil {
		n.s.tb.Fatal(err)
	}
	return string(b[:size])
}

// Echo replies with their data to all requests of a subject; silent ones get none. It returns when the
// server knows of it.
func (n *Client) Echo(subject string, silent func(data string) bool) {
	n.s.tb.Helper()
	n.say("SUB %s 1\r\nPING\r\n", subject)
	n.line("PONG")
	go func() {
		for {
			text, err := n.r.ReadString('\n')
			if err != nil {
				return
			}
			words := strings.Fields(text)
			if len(words) > 0 && words[0] == "PING" {
				_, _ = n.c.Write([]byte("PONG\r\n"))
			}
			if len(words) < 5 || words[0] != "MSG" {
				continue
			}
			size, _ := strconv.Atoi(words[4])
			b := make([]byte, size+2)
			if _, err := io.ReadFull(n.r, b); err != nil {
				return
			}
			if data := string(b[:size]); silent == nil || !silent(data) {
				_, _ = fmt.Fprintf(n.c, "PUB %s %d\r\n%s\r\n", words[3], size, data)
			}
		}
	}()
}

// Stream makes a stream of a subject; more is what its settings say beside.
func (n *Client) Stream(name, subject, more string) {
	n.s.tb.Helper()
	got := n.Ask("$JS.API.STREAM.CREATE."+name, fmt.Sprintf(`{"name":%q,"subjects":[%q],"storage":"memory","retention":"limits","max_consumers":-1,"max_msgs":-1,"max_bytes":-1,"num_replicas":1%s}`, name, subject, more))
	if strings.Contains(got, `"error"`) {
		n.s.tb.Fatal(got)
	}
}

// LastSequence is how many messages a stream has taken.
func (n *Client) LastSequence(name string) uint64 {
	n.s.tb.Helper()
	var v struct {
		State struct {
			Last uint64 `json:"last_seq"`
		} `json:"state"`
	}
	if err := json.Unmarshal([]byte(n.Ask("$JS.API.STREAM.INFO."+name, "")), &v); err != nil {
		n.s.tb.Fatal(err)
	}
	return v.State.Last
}

// Fill publishes so many messages, and waits until the server has them.
func (n *Client) Fill(subject, data string, messages int) {
	n.s.tb.Helper()
	n.say("%sPING\r\n", strings.Repeat(fmt.Sprintf("PUB %s %d\r\n%s\r\n", subject, len(data), data), messages))
	n.line("PONG")
}

// Consumer makes a pull consumer of a stream; more is what its settings say beside.
func (n *Client) Consumer(stream, name, more string) {
	n.s.tb.Helper()
	got := n.Ask("$JS.API.CONSUMER.DURABLE.CREATE."+stream+"."+name, fmt.Sprintf(`{"stream_name":%q,"config":{"durable_name":%q,"deliver_policy":"all","ack_policy":"explicit","replay_policy":"instant"%s}}`, stream, name, more))
	if strings.Contains(got, `"error"`) {
		n.s.tb.Fatal(got)
	}
}

// Consumed is how far a consumer is, by the server's own count.
type Consumed struct {
	Delivered  place  `json:"delivered"`
	AckFloor   place  `json:"ack_floor"`
	AckPending uint64 `json:"num_ack_pending"`
	Pending    uint64 `json:"num_pending"`
}

// place counts deliveries, and messages of the stream.
type place struct {
	Consumer uint64 `json:"consumer_seq"`
	Stream   uint64 `json:"stream_seq"`
}

// Consumed returns how far a consumer is.
func (n *Client) Consumed(stream, name string) Consumed {
	n.s.tb.Helper()
	var v Consumed
	if err := json.Unmarshal([]byte(n.Ask("$JS.API.CONSUMER.INFO."+stream+"."+name, "")), &v); err != nil {
		n.s.tb.Fatal(err)
	}
	return v
}
