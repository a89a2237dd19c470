package ping

import (
	"context"
	"net"
	"strings"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/smtp"
)

// talkSMTP greets the server, and times its answer to NOOP.
func (r *Report) talkSMTP(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	protocol, err := smtp.New(*cfg.SMTP)
	if err != nil {
		return err
	}
	g := protocol.Greet()
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "SMTP", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	said := "SMTP"
	if all := g.About().Extensions; len(all) > 0 {
		said = "ESMTP with " + strings.Join(all, ", ")
	}
	r.Greeting = &Greeting{Protocol: said, Server: g.About().Banner, NS: int64(time.Since(began))}
	r.Answer.Status, r.Answer.KeepAlive = 200, true
	return r.pong(c, d, rest, make([]byte, 64<<10))
}

// talkFTP greets the server, and times its answer to NOOP.
func (r *Report) talkFTP(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	protocol, err := ftp.New(*cfg.FTP)
	if err != nil {
		return err
	}
	g := protocol.Greet()
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "FTP", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	r.Greeting = &Greeting{Protocol: "FTP", Server: g.Banner(), NS: int64(time.Since(began))}
	r.Answer.Status, r.Answer.KeepAlive = 200, true
	return r.pong(c, d, rest, make([]byte, 64<<10))
}

// nothing names a ping by NOOP.
func (r *Report) nothing(scheme string, secure bool, url string) {
	_, rest, _ := strings.Cut(url, "://")
	if r.Protocol, r.Method = scheme, "NOOP"; secure {
		scheme += "s"
	}
	r.URL = scheme + "://" + strings.TrimSuffix(rest, "/")
}
