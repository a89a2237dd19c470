package ping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/resolve"
	"hyperscale/runtime/ui/units"
)

// Cluster is what records say of a service whose host is no server itself.
type Cluster struct {
	Record  string   `json:"record"` // the name of the SRV records
	Servers []Target `json:"servers"`
	Text    string   `json:"text"` // of the TXT record; empty: there is none
	Server  string   `json:"server"`
	Queries int      `json:"queries"` // for the SRV records
	NS      int64    `json:"ns"`      // of the same
	Kind    string   `json:"kind"`    // of the failure; empty: there are servers
	Error   string   `json:"error"`
}

// Target is a server of a cluster.
type Target struct {
	Name     string `json:"name"`
	Port     uint16 `json:"port"`
	Priority uint16 `json:"priority"`
	Weight   uint16 `json:"weight"`
	TTL      int64  `json:"ttl"` // seconds
}

// LookupCluster looks up the servers of a service, as "mongodb", and does nothing else. Its result includes failures.
func LookupCluster(ctx context.Context, resolver *resolve.Resolver, service, host string) *Cluster {
	found, err := resolver.Cluster(ctx, service, host)
	c := &Cluster{Record: found.Record, Servers: []Target{}, Text: found.Text, Queries: found.Queries, NS: int64(found.Took)}
	if found.Server.IsValid() {
		c.Server = found.Server.String()
	}
	for _, s := range found.Services {
		c.Servers = append(c.Servers, Target{Name: s.Target, Port: s.Port, Priority: s.Priority, Weight: s.Weight, TTL: int64(s.TTL.Seconds())})
	}
	if err != nil {
		c.Kind, c.Error = string(http1.KindDNS), err.Error()
	}
	return c
}

// runCluster greets the servers of a cluster in turn, until one takes the connection and serves.
func (r *Report) runCluster(ctx context.Context, cfg Config, call *http1.Call) error {
	r.enter(message.PhaseDNS)
	r.Cluster = LookupCluster(ctx, cfg.Resolver, cfg.Service, call.Host)
	if r.Cluster.Kind != "" {
		return &http1.Error{Kind: http1.KindDNS, Detail: r.Cluster.Error}
	}
	var err error
	for i, s := range r.Cluster.Servers {
		one := *call
		one.Host, one.Port = s.Name, s.Port
		r.Address, r.TLS, r.Greeting, r.Answer = "", nil, nil, nil
		cfg.more = i+1 < len(r.Cluster.Servers)
		if err = r.runServer(ctx, cfg, &one); err == nil {
			return nil
		}
		moved := http1.KindOf(err) == http1.KindMoved
		if r.Address != "" && !moved || ctx.Err() != nil || i == len(r.Cluster.Servers)-1 {
			return err
		}
		if moved {
			r.Tries[len(r.Tries)-1].Error = detailOf(err)
		}
	}
	return err
}

// addressed returns where a server may be reached.
func (r *Report) addressed(ctx context.Context, cfg *Config, call *http1.Call) ([]netip.AddrPort, error) {
	if cfg.Address.IsValid() {
		return []netip.AddrPort{netip.AddrPortFrom(cfg.Address, call.Port)}, nil
	}
	r.enter(message.PhaseDNS)
	return r.names(ctx, cfg.Resolver, call)
}

// detailOf is an error for people.
func detailOf(err error) string {
	if own := (*http1.Error)(nil); errors.As(err, &own) {
		return own.Detail
	}
	return err.Error()
}

// Print shows the lookup alone.
func (c *Cluster) Print(w io.Writer) error {
	var b strings.Builder
	c.write(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Cluster) write(b *strings.Builder) {
	if c.Kind != "" {
		row(b, "service", plain(c.Record)+": "+plain(c.Error))
		return
	}
	row(b, "service", fmt.Sprintf("%s from %s in %s", plain(c.Record), c.Server, units.Latency(uint64(c.NS))))
	for _, s := range c.Servers {
		row(b, "", fmt.Sprintf("%s:%d, priority %d, weight %d%s", plain(s.Name), s.Port, s.Priority, s.Weight, lasts(s.TTL)))
	}
	if c.Text != "" {
		row(b, "text", plain(c.Text))
	}
}
