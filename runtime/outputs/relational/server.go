package relational

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/wire"
)

// server is where a database is.
type server struct {
	address, user, database string
	tls                     *tls.Config // nil: in clear
	password                outputs.Secret
}

// serverOf reads SCHEME://USER@HOST[:PORT]/DATABASE?sslmode=...
func serverOf(s *outputs.Settings, example, port string, schemes ...string) (*server, error) {
	u, err := url.Parse(s.Place)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.User.Username() == "" {
		return nil, errors.New("this is no address: write " + example)
	}
	at := &server{user: u.User.Username(), database: strings.TrimPrefix(u.Path, "/"), password: s.Secret("password")}
	at.address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	for name := range u.Query() {
		if name != "sslmode" && name != "sslrootcert" {
			return nil, fmt.Errorf("%s= is unknown in the address: use sslmode and sslrootcert", name)
		}
	}
	mode, root := u.Query().Get("sslmode"), u.Query().Get("sslrootcert")
	if mode == "" {
		mode = "verify-full"
		ip := net.ParseIP(u.Hostname())
		if here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(); root == "" && here {
			mode = "disable"
		}
	}
	switch mode {
	case "disable":
	case "require":
		at.tls = &tls.Config{ServerName: u.Hostname(), InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // what sslmode=require means
	case "verify-full":
		at.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	default:
		return nil, fmt.Errorf("sslmode = %q: use disable, require or verify-full", mode)
	}
	if root != "" && mode != "verify-full" {
		return nil, fmt.Errorf("sslrootcert is of no use with sslmode = %q, which verifies nothing: use sslmode=verify-full", mode)
	}
	if root != "" {
		if at.tls.RootCAs, err = wire.Roots(root); err != nil {
			return nil, fmt.Errorf("sslrootcert: %w", err)
		}
	}
	return at, nil
}

// readServer reads the rows of a job.
func readServer(d dialect, open func(context.Context) (database, *failure), job string) ([]outputs.Row, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readMax)
	defer cancel()
	db, fail := open(ctx)
	if fail != nil {
		return nil, errors.New(fail.why)
	}
	defer db.close()
	return readBack(ctx, &d, db, job)
}
