// Command cassandra is a double of a node of Apache Cassandra, for tests: CQL's native protocol, version 4, with one keyspace,
// load, and the user load. It keeps cells by their write times, and rejects what a node rejects: values of a wrong length, keys
// without a value or beyond 65,535 bytes, and texts that are no UTF-8. Before it prints its addresses, Apache's client gocql must have
// created a table, written, been overruled by a later write, read page by page, and failed with a wrong password. Its second address is
// a page: /password is the user's, /rows what gocql reads of load.hyperscale_rows, /fail?code=N&n=N answers the next N
// executions with an error, /forget forgets prepared statements, /drop the tables.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

const (
	user     = "load"
	password = "kept-by-the-double-77c1"
)

// session is a session of Apache's client.
func session(address, secret string) (*gocql.Session, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	c := gocql.NewCluster(host)
	if c.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	c.ProtoVersion, c.NumConns, c.Consistency, c.DisableInitialHostLookup = 4, 1, gocql.LocalQuorum, true
	c.Timeout, c.ConnectTimeout, c.ReconnectInterval = 10*time.Second, 10*time.Second, 0
	c.Events.DisableTopologyEvents, c.Events.DisableNodeStatusEvents, c.Events.DisableSchemaEvents = true, true, true
	c.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: secret}
	c.PoolConfig.HostSelectionPolicy = gocql.RoundRobinHostPolicy()
	return c.CreateSession()
}

// judge lets Apache's client pass.
func judge(address string) error {
	if _, err := session(address, "wrong"); err == nil || !strings.Contains(err.Error(), "password are incorrect") {
		return fmt.Errorf("gocql with a wrong password: %v", err)
	}
	s, err := session(address, password)
	if err != nil {
		return fmt.Errorf("gocql connects: %w", err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for range 2 {
		if err := s.Query(`CREATE TABLE IF NOT EXISTS load.judged (a text, d date, b bigint, c text, at timestamp, PRIMARY KEY ((a, d), b))`).ExecContext(ctx); err != nil {
			return fmt.Errorf("gocql creates: %w", err)
		}
	}
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	insert := func(a string, b int64, c any, at int64) error {
		return s.Query(`INSERT INTO load.judged (a, d, b, c, at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?`, a, day, b, c, day, at).ExecContext(ctx)
	}
	for b := range int64(5) {
		if err := errors.Join(insert("größe", b, "new", 100), insert("größe", b, "old", 99), insert("größe", b, gocql.UnsetValue, 101)); err != nil {
			return fmt.Errorf("gocql writes: %w", err)
		}
	}
	var said gocql.RequestError
	if err := insert(strings.Repeat("x", 70_000), 1, "c", 1); !errors.As(err, &said) || said.Code() != gocql.ErrCodeInvalid {
		return fmt.Errorf("gocql writes a long key: %v", err)
	}
	if err := s.Query(`SELECT c FROM load.absent WHERE a = ?`, "a").ExecContext(ctx); !errors.As(err, &said) || said.Code() != gocql.ErrCodeInvalid {
		return fmt.Errorf("gocql reads a table that is not there: %v", err)
	}
	if err := s.Query(`SELECT c FROM load.judged WHERE a = ?`, "größe").ExecContext(ctx); !errors.As(err, &said) || said.Code() != gocql.ErrCodeInvalid {
		return fmt.Errorf("gocql reads by half of a partition's key: %v", err)
	}
	rows := s.Query(`SELECT a, d, b, c, at FROM load.judged WHERE a = ? AND d = ?`, "größe", day).PageSize(2).IterContext(ctx)
	n, a, c, b := 0, "", "", int64(0)
	var d, at time.Time
	for rows.Scan(&a, &d, &b, &c, &at) {
		if n++; a != "größe" || c != "new" || !d.Equal(day) || !at.Equal(day) || b != int64(n-1) {
			return fmt.Errorf("gocql reads %q, %v, %d, %q, %v", a, d, b, c, at)
		}
	}
	if err := rows.Close(); err != nil || n != 5 {
		return fmt.Errorf("gocql reads %d rows: %w", n, err)
	}
	return nil
}

// rows are those of load.hyperscale_rows, as Apache's client reads them.
func rows(ctx context.Context, address string) ([]map[string]any, error) {
	s, err := session(address, password)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all := []map[string]any{}
	found := s.Query("SELECT * FROM load.hyperscale_rows").PageSize(20).IterContext(ctx)
	for row := map[string]any{}; found.MapScan(row); row = map[string]any{} {
		all = append(all, row)
	}
	return all, found.Close()
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	n := newNode()
	go n.accept(l)
	if err := judge(l.Addr().String()); err != nil {
		log.Fatal(err)
	}
	n.drop()
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr(), page.Addr())
	log.Fatal(http.Serve(page, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/password":
			fmt.Fprint(w, password)
		case "/fail":
			code, err := strconv.ParseInt(r.FormValue("code"), 0, 32)
			count, wrong := strconv.Atoi(r.FormValue("n"))
			if err = errors.Join(err, wrong); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			n.fails(int(code), count)
		case "/forget":
			n.forget()
		case "/drop":
			n.drop()
		case "/rows":
			all, err := rows(r.Context(), l.Addr().String())
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(w).Encode(all)
		default:
			http.NotFound(w, r)
		}
	})))
}
