package ping

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// addressPatience is the most that one address of several, or of a server before the last one of a cluster, may take to
// answer, as in a load test.
const addressPatience = time.Second

// connect tries the addresses in turn.
func (r *Report) connect(ctx context.Context, cfg *Config, addrs []netip.AddrPort) (net.Conn, error) {
	var err error
	for i, a := range addrs {
		d := net.Dialer{KeepAlive: -1}
		if cfg.more || i+1 < len(addrs) {
			d.Timeout = addressPatience
		}
		start := time.Now()
		var c net.Conn
		c, err = d.DialContext(ctx, cfg.Raw.network(), a.String())
		try := Try{Address: a.String(), NS: int64(time.Since(start))}
		if err != nil {
			try.Error = err.Error()
			r.Tries = append(r.Tries, try)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		r.Tries = append(r.Tries, try)
		r.Address, r.Local = a.String(), c.LocalAddr().String()
		return c, nil
	}
	return nil, fmt.Errorf("connect: %w", err)
}
