package relational

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"hyperscale/runtime/outputs"
)

const postgresExample = "postgres://load@db.internal/load?sslmode=verify-full,password_file=/run/secrets/load"

// Postgres is the row of the table of kinds.
func Postgres() outputs.Kind {
	d := postgresDialect()
	return outputs.Kind{
		Name: "postgres", Engine: "sql", About: "tables in PostgreSQL", Place: "URL", Example: postgresExample,
		Options:  []outputs.Option{{Name: "password", Type: outputs.OptionSecret, Help: "password of the user"}, createOption()},
		Delivery: outputs.Exact, Tested: "PostgreSQL 15, through a relay that cuts, hangs and loses answers", Schema: d.printed(),
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			at, err := postgresPlace(s)
			if err != nil {
				return nil, err
			}
			return newSink(postgresDialect(), at.open, s.Bool("create"), postgresLock), nil
		},
		ReadBack: func(s *outputs.Settings, job string) ([]outputs.Row, error) {
			at, err := postgresPlace(s)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(context.Background(), readMax)
			defer cancel()
			db, fail := at.open(ctx)
			if fail != nil {
				return nil, errors.New(fail.why)
			}
			defer db.close()
			d := postgresDialect()
			return readBack(ctx, &d, db, job)
		},
	}
}

// postgresLock lets one command at a time make the tables: two at once would fail.
const postgresLock = "SELECT pg_advisory_xact_lock(7526752397670245751)"

func postgresDialect() dialect {
	return dialect{
		argument: func(n int) string { return "$" + strconv.Itoa(n) },
		types: map[kindOf]string{
			ofText: "text", ofWhole: "bigint", ofSum: "numeric", ofFloat: "double precision", ofTruth: "boolean", ofTime: "timestamptz", ofVersion: "bytea", ofJSON: "jsonb", ofList: "bigint[]",
		},
		forms: map[kindOf]func(string) string{
			ofList:    func(s string) string { return "{" + strings.Trim(s, "[]") + "}" },
			ofVersion: func(s string) string { return `\x` + s },
			ofJSON:    func(s string) string { return strings.ReplaceAll(s, `\u0000`, `\ufffd`) },
		},
	}
}

// server is where a PostgreSQL is.
type server struct {
	address, user, database string
	tls                     *tls.Config // nil: in clear
	password                outputs.Secret
}

// postgresPlace reads postgres://USER@HOST[:PORT]/DATABASE?sslmode=...
func postgresPlace(s *outputs.Settings) (*server, error) {
	u, err := url.Parse(s.Place)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Hostname() == "" || u.User.Username() == "" {
		return nil, errors.New("this is no address: write " + postgresExample)
	}
	at := &server{user: u.User.Username(), database: strings.TrimPrefix(u.Path, "/"), password: s.Secret("password")}
	port := u.Port()
	if port == "" {
		port = "5432"
	}
	at.address = net.JoinHostPort(u.Hostname(), port)
	for name := range u.Query() {
		if name != "sslmode" && name != "sslrootcert" {
			return nil, fmt.Errorf("%s= is unknown in the address: use sslmode and sslrootcert", name)
		}
	}
	mode := u.Query().Get("sslmode")
	if mode == "" {
		mode = "verify-full"
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
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
	if file := u.Query().Get("sslrootcert"); file != "" && at.tls != nil {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("sslrootcert: %w", err)
		}
		at.tls.RootCAs = x509.NewCertPool()
		if !at.tls.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("sslrootcert = %q has no certificate in PEM: name the file of the authority", file)
		}
	}
	return at, nil
}
