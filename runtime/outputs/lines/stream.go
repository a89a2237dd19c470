package lines

import (
	"context"
	"fmt"
	"io"
	"net"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// stream sends each batch over a TCP connection of its own. The protocol has no answers, so the end of the connection is
// the answer: a server closes it once it has read the end of the batch.
type stream struct {
	address string
	lines   func(to []byte, r *outputs.Row) []byte
}

// Check connects.
func (s *stream) Check(ctx context.Context) error {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("it cannot be reached: start it, or correct the address: %w", reason(err))
	}
	_ = c.Close() // it sent nothing
	return nil
}

// Deliver implements outputs.Sink.
func (s *stream) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	var text []byte
	for i := range b.Rows {
		text = s.lines(text, &b.Rows[i])
	}
	if len(text) == 0 {
		return outputs.Delivered()
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return outputs.Again(0, "it cannot be reached: "+reason(err).Error())
	}
	defer func() { _ = c.Close() }() // the outcome says how it ended
	if until, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(until) // a connection that is closed fails at the write
	}
	if _, err = c.Write(text); err == nil {
		err = c.(*net.TCPConn).CloseWrite()
	}
	if err != nil {
		return outputs.Unclear("the connection broke: " + reason(err).Error())
	}
	if _, err = io.Copy(io.Discard, io.LimitReader(c, 64<<10)); err != nil {
		return outputs.Unclear("the server did not end the connection after the batch: " + reason(err).Error())
	}
	return outputs.Delivered()
}

// Close implements outputs.Sink. No connection stands between batches.
func (s *stream) Close() {}

// Graphite is the kind `graphite`: the plaintext protocol over TCP. A value replaces the one that its metric has for the
// same time, so a repeated batch does no harm.
func Graphite() outputs.Kind {
	return outputs.Kind{
		Name: "graphite", Engine: "lines", About: "Graphite's carbon, and what takes its lines over TCP, during the run and at its end",
		Place: "HOST:PORT", Example: "127.0.0.1:2003",
		Options: []outputs.Option{
			{Name: "prefix", Default: "hyperscale", Help: "what paths begin with"},
			{Name: "run", Type: outputs.OptionBool, Default: "false", Help: "a node with the job's id behind the prefix: runs that overlap need it, and each run makes new files"},
			{Name: "datacenters", Type: outputs.OptionBool, Default: "true", Help: "also the figures of each datacenter"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 200, Parallel: 1},
		Tested:   "carbon-cache 1.1.7 with whisper",
		Open:     openGraphite,
	}
}

func openGraphite(s *outputs.Settings) (outputs.Sink, error) {
	if _, port, err := net.SplitHostPort(s.Place); err != nil || port == "" {
		return nil, fmt.Errorf("place = %q is no address: write HOST:PORT, as in %s", s.Place, s.Kind.Example)
	}
	prefix, run, all := s.Text("prefix"), s.Bool("run"), s.Bool("datacenters")
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	return &stream{address: s.Place, lines: func(to []byte, r *outputs.Row) []byte {
		if !model.Has(r, all) {
			return to
		}
		return AppendGraphite(to, prefix, run, r)
	}}, nil
}

// OpenTelegraf is a sink that sends rows to Telegraf's socket_listener, over TCP.
func OpenTelegraf(address string) (outputs.Sink, error) {
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return nil, fmt.Errorf("place = %q is no address: write tcp://HOST:PORT, as in tcp://127.0.0.1:8094", address)
	}
	return &stream{address: address, lines: AppendTelegraf}, nil
}
