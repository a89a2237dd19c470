package lines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// datagramMax is what fits an Ethernet frame behind a tunnel, as StatsD's page advises.
const datagramMax = 1432

// echo is how long a machine has to say that no program listens on a port, after the last datagram of a batch.
const echo = 10 * time.Millisecond

// datagrams sends batches over UDP, or over a unix socket.
type datagrams struct {
	network, address string
	lines            func(r *outputs.Row) []string
	c                net.Conn
}

// Check finds out that a datagram can be sent. It sends none: an empty one would count as a bad line.
func (d *datagrams) Check(ctx context.Context) error {
	if err := d.open(ctx); err != nil {
		return fmt.Errorf("%s %s cannot be reached: start it, or correct the address: %w", d.network, d.address, reason(err))
	}
	return nil
}

func (d *datagrams) open(ctx context.Context) error {
	if d.c != nil {
		return nil
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, d.network, d.address)
	d.c = c
	if err != nil {
		d.c = nil
	}
	return err
}

// Deliver sends each datagram once. If the kernel rejects one, the whole batch counts as lost, though datagrams before it may
// have arrived.
func (d *datagrams) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	if err := d.open(ctx); err != nil {
		return outputs.Again(0, "it cannot be reached: "+reason(err).Error())
	}
	var packed []string
	var wide []int
	for i := range b.Rows {
		lines := d.lines(&b.Rows[i])
		if slices.ContainsFunc(lines, func(l string) bool { return len(l) > datagramMax }) {
			wide = append(wide, i)
			continue
		}
		packed = append(packed, lines...)
	}
	if until, ok := ctx.Deadline(); ok {
		_ = d.c.SetDeadline(until) // a socket that is closed fails at the write
	}
	for _, text := range pack(packed, datagramMax) {
		if _, err := d.c.Write([]byte(text)); err != nil {
			return d.rejected(err)
		}
	}
	_ = d.c.SetReadDeadline(time.Now().Add(echo)) // as above
	if _, err := d.c.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && d.network == "udp" {
		return d.rejected(err)
	}
	if len(wide) > 0 {
		return outputs.Rejected(wide, fmt.Sprintf("names and tags of a line exceed a datagram of %d bytes: use shorter or fewer tags", datagramMax))
	}
	return outputs.Delivered()
}

func (d *datagrams) rejected(err error) outputs.Outcome {
	d.Close()
	return outputs.Again(0, "the machine rejects a datagram: "+reason(err).Error())
}

// Close implements outputs.Sink.
func (d *datagrams) Close() {
	if d.c != nil {
		_ = d.c.Close() // what was sent is sent
		d.c = nil
	}
}

// pack joins lines, none of which is longer, to datagrams of at most so many bytes.
func pack(lines []string, most int) (out []string) {
	var now strings.Builder
	for _, l := range lines {
		if now.Len() > 0 && now.Len()+1+len(l) > most {
			out = append(out, now.String())
			now.Reset()
		}
		if now.Len() > 0 {
			now.WriteByte('\n')
		}
		now.WriteString(l)
	}
	if now.Len() > 0 {
		out = append(out, now.String())
	}
	return out
}

// reason is an error without the address, which the user's own text has.
func reason(err error) error {
	var failed *net.OpError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// openDatagrams reads the place of a kind of StatsD's family: HOST:PORT, or the path of a unix socket.
func openDatagrams(s *outputs.Settings, d Dialect) (outputs.Sink, error) {
	out := &datagrams{network: "udp", address: s.Place}
	prefix, all := s.Text("prefix"), s.Bool("datacenters")
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	out.lines = func(r *outputs.Row) []string {
		if !model.Has(r, all) {
			return nil
		}
		return Statsd(d, prefix, r)
	}
	if file, ok := strings.CutPrefix(s.Place, "unix://"); ok && d == Dog {
		out.network, out.address = "unixgram", file
		return out, nil
	}
	if _, port, err := net.SplitHostPort(s.Place); err != nil || port == "" || strings.Contains(s.Place, "/") {
		return nil, fmt.Errorf("place = %q is no address: write HOST:PORT, as in %s", s.Place, s.Kind.Example)
	}
	return out, nil
}

// checkPrefix reports a prefix that is no path.
func checkPrefix(prefix string) error {
	for node := range strings.SplitSeq(prefix, ".") {
		if node == "" || node != Node(node) {
			return fmt.Errorf("prefix = %q: write letters of ASCII, digits, - and _, with dots between them", prefix)
		}
	}
	return nil
}

// datagramKind is what the kinds of the family share.
func datagramKind(name, about, tested string, d Dialect, all string) outputs.Kind {
	return outputs.Kind{
		Name: name, Engine: "lines", About: about, Place: "HOST:PORT", Example: "127.0.0.1:8125",
		Options: []outputs.Option{
			{Name: "prefix", Default: "hyperscale", Help: "what names of metrics begin with"},
			{Name: "datacenters", Type: outputs.OptionBool, Default: all, Help: "also the figures of each datacenter"},
		},
		Delivery: outputs.AtMostOnce,
		Limits:   outputs.Limits{Rows: 200},
		Tested:   tested,
		Open:     func(s *outputs.Settings) (outputs.Sink, error) { return openDatagrams(s, d) },
	}
}

// StatsD is the kind `statsd`.
func StatsD() outputs.Kind {
	return datagramKind("statsd", "StatsD, by UDP: names without tags", "statsd 0.9.0 (npm)", Plain, "true")
}

// DogStatsD is the kind `dogstatsd`.
func DogStatsD() outputs.Kind {
	k := datagramKind("dogstatsd", "Datadog's agent, by UDP or a unix socket, with tags", "the parser of statsd_exporter 0.31.0; no agent of Datadog", Dog, "false")
	k.Place = "HOST:PORT or unix://FILE"
	return k
}

// TelegrafStatsD is the kind `telegrafstatsd`.
func TelegrafStatsD() outputs.Kind {
	return datagramKind("telegrafstatsd", "Telegraf's input for StatsD, by UDP, with tags in names", "the parser of statsd_exporter 0.31.0; no Telegraf", Telegraf, "true")
}

// Netdata is the kind `netdata`: the plugin statsd.plugin of an agent.
func Netdata() outputs.Kind {
	return datagramKind("netdata", "Netdata's agent, which has a server of StatsD, by UDP: a chart for each name", "netdata 1.37.1", Low, "false")
}
