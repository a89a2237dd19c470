package ping

import (
	"context"
	"net"
	"strings"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mysql"
)

// talkMySQL greets the server, in TLS if it is asked to, and times a statement.
func (r *Report) talkMySQL(ctx context.Context, c net.Conn, cfg Config, call *http1.Call) error {
	g := mysql.New(*cfg.MySQL).Greet()
	rounds, out := codec.NewRounds(g)
	began := time.Now()
	r.Answer = &Answer{Protocol: "MySQL 10", Headers: [][2]string{}}
	d, rest, err := r.greet(ctx, &c, cfg, call, rounds, out)
	if err != nil {
		r.Answer = nil
		return err
	}
	defer d.Release()
	means := "without a password"
	if cfg.MySQL.Password != "" {
		means = "by " + g.Plugin()
	}
	server := g.Server()
	if !strings.Contains(server, "MariaDB") {
		server = "MySQL " + server
	}
	r.Greeting = &Greeting{Protocol: r.Answer.Protocol + ", user " + cfg.MySQL.User + " " + means, Server: server, NS: int64(time.Since(began))}
	of := d.(*mysql.Conn)
	return r.ask(c, d, rest, &answered{outcome: func() error { return of.Outcome().Err }, say: func() error {
		return of.Operate(mysql.Compile(mysql.ModeSimple, []mysql.Statement{{Text: "select 1"}}, false), mysql.Order{Keeps: true})
	}})
}
