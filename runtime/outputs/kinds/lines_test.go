package kinds_test

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
	"hyperscale/runtime/outputs/outputstest"
)

func init() {
	places["graphite"], places["statsd"], places["dogstatsd"], places["telegrafstatsd"] = newGraphite, newSocket, newSocket, newSocket
}

// unhex reads what Node wrote, by the rules of URLs.
func unhex(t *testing.T, s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String()
}

// graphite keeps the newest value of each path and second, as whisper does.
type graphite struct {
	*outputstest.Stream
	t      *testing.T
	mu     sync.Mutex
	values map[string]float64
}

func (g *graphite) take(batch []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for line := range strings.Lines(string(batch)) {
		parts := strings.Fields(line)
		if len(parts) != 3 {
			g.t.Errorf("line %q", line)
			continue
		}
		v, err := strconv.ParseFloat(parts[1], 64)
		if err != nil {
			g.t.Error(err)
		}
		g.values[parts[0]+" "+parts[2]] = v
	}
}

func (g *graphite) Name() string { return g.Address() + ",run=true" }

func (g *graphite) Key(r *outputs.Row) string {
	if !model.Has(r, true) {
		return meaningless
	}
	at := strconv.FormatInt(r.At().Unix(), 10)
	if r.Threshold != nil {
		return strings.Join([]string{r.Workflow, "threshold.met", r.Threshold.Expression, at}, "|")
	}
	value := "requests.started"
	if r.Kind == outputs.RowLost {
		value = "requests.lost"
	}
	datacenter := r.Datacenter
	if datacenter == "" {
		datacenter = "_all"
	}
	step := r.Step
	if r.StepKind == message.StepPart {
		step = "_part." + step
	}
	return strings.Join([]string{datacenter, r.Workflow, step, value, at, fmt.Sprint(r.Figures.Begun)}, "|")
}

func (g *graphite) Stored(job string) (map[string]int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := map[string]int{meaningless: withoutMeaning(job)}
	for key, v := range g.values {
		path, at, _ := strings.Cut(key, " ")
		nodes := strings.Split(path, ".")
		if nodes[1] != job {
			continue
		}
		switch tail := strings.Join(nodes[len(nodes)-2:], "."); {
		case tail == "requests.started" || tail == "requests.lost":
			all[strings.Join([]string{unhex(g.t, nodes[3]), nodes[4], unhex(g.t, strings.Join(nodes[5:len(nodes)-2], ".")), tail, at, fmt.Sprint(v)}, "|")]++
		case len(nodes) > 3 && nodes[len(nodes)-2] == "met":
			all[strings.Join([]string{nodes[4], "threshold.met", unhex(g.t, nodes[len(nodes)-1]), at}, "|")]++
		}
	}
	return all, nil
}

func newGraphite(t *testing.T) outputstest.Place {
	g := &graphite{t: t, values: map[string]float64{}}
	g.Stream = outputstest.NewStream(g.take)
	t.Cleanup(g.Close)
	return g
}

// socket counts lines of datagrams. Nothing goes wrong there that a sender could see: what nothing listens for is
// TestDatagramsThatDoNotLeave.
type socket struct {
	c    net.PacketConn
	mu   sync.Mutex
	text []string
}

func (s *socket) Name() string                { return s.c.LocalAddr().String() + ",datacenters=true" }
func (s *socket) Misbehave(outputstest.Fault) {}
func (s *socket) Can(outputstest.Fault) bool  { return false }
func (s *socket) Key(r *outputs.Row) string   { return r.Kind.String() + " " + fmt.Sprint(r.To) }
func (s *socket) Stored(job string) (map[string]int, error) {
	time.Sleep(300 * time.Millisecond) // what the kernel holds arrives
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0.0
	for _, line := range s.text {
		line, _, _ = strings.Cut(line, "|#")
		if name, value, _ := strings.Cut(line, ":"); strings.Contains(name, "requests.started") {
			v, err := strconv.ParseFloat(strings.TrimSuffix(value, "|c"), 64)
			if err != nil {
				return nil, err
			}
			sum += v
		}
	}
	want := 0.0
	all := map[string]int{}
	rows := outputstest.Rows(job)
	for i := range rows {
		all[s.Key(&rows[i])]++
		if rows[i].Kind == outputs.RowWindow {
			want += float64(rows[i].Figures.Begun)
		}
	}
	if sum != want {
		return nil, fmt.Errorf("%v requests arrived, %v were in windows", sum, want)
	}
	return all, nil
}

func newSocket(t *testing.T) outputstest.Place {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = c.(*net.UDPConn).SetReadBuffer(1 << 20)
	s := &socket{c: c}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, _, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.text = append(s.text, strings.Split(string(b[:n]), "\n")...)
			s.mu.Unlock()
		}
	}()
	return s
}
