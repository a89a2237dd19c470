package documents

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
)

func TestRedis(t *testing.T) {
	server := redistest.Start(t)
	comesBack(t, Redis(), server.URL()+",expire=2h")
	t.Run("keys expire", func(t *testing.T) {
		for _, key := range append(strings.Split(server.Ask("KEYS", "hyperscale:{a}*"), "\n"), "hyperscale:{a}") {
			left, err := strconv.Atoi(strings.TrimPrefix(server.Ask("TTL", key), ":"))
			if err != nil || left <= 3600 || left > 7200 {
				t.Errorf("%s expires in %d s, %v", key, left, err)
			}
		}
	})
	t.Run("fields are those of the row", func(t *testing.T) {
		r := outputstest.Rows("a")[0]
		for field, want := range map[string]string{"begun": strconv.FormatUint(r.Figures.Begun, 10), "p99_ns": strconv.FormatUint(r.Figures.Quantiles()[3], 10), "workflow": "shop", "to_ms": "10000", "statuses": "$-1"} {
			if got := server.Ask("HGET", "hyperscale:{a}:"+Name(&r), field); got != want {
				t.Errorf("%s is %q, want %q", field, got, want)
			}
		}
	})
	t.Run("a bad row is rejected alone", func(t *testing.T) {
		sink, s := opened(t, Redis(), server.URL())
		rows := outputstest.Rows("c")[:4]
		server.Ask("SET", "hyperscale:{c}:"+Name(&rows[2]), "theirs")
		if out := sink.Deliver(context.Background(), outputs.Batch{Rows: rows}); out.Verdict != outputs.VerdictSmaller {
			t.Errorf("%+v", out)
		}
		if out := sink.Deliver(context.Background(), outputs.Batch{Rows: rows[2:3]}); out.Verdict != outputs.VerdictRejected || !strings.Contains(out.Why, "give another prefix") {
			t.Errorf("%+v", out)
		}
		deliver(t, sink, append(rows[:2:2], rows[3])...)
		if got := server.Ask("GET", "hyperscale:{c}:"+Name(&rows[2])); got != "theirs" {
			t.Errorf("it is %q now", got)
		}
		if got := server.Ask("SCARD", s.Text("prefix")+":{c}"); got != ":3" {
			t.Errorf("the set has %s names", got)
		}
	})
	t.Run("memory that is full", func(t *testing.T) {
		sink, _ := opened(t, Redis(), server.URL())
		server.Ask("CONFIG", "SET", "maxmemory", "1")
		out := sink.Deliver(context.Background(), outputs.Batch{Rows: outputstest.Rows("d")})
		server.Ask("CONFIG", "SET", "maxmemory", "0")
		if out.Verdict != outputs.VerdictAgain || !strings.Contains(out.Why, "OOM") {
			t.Errorf("%+v", out)
		}
		deliver(t, sink, outputstest.Rows("d")...)
	})
}

func TestRedisUsers(t *testing.T) {
	const right, wrong = "geheim-1f3a", "not-this-one-2e4b"
	server := redistest.Secure(t, "--user", "load", "on", ">"+right, "~load:*", "+eval", "+hget", "+hset", "+del", "+expire", "+sadd", "+sscan",
		"--user", "poor", "on", ">"+right, "~*", "+eval", "+hget", "--user", "default", "on", "nopass", "~*", "+@all")
	t.Setenv("REDIS_RIGHT", right)
	t.Setenv("REDIS_WRONG", wrong)
	_, _, authorities := authority.Files()
	root := filepath.Join(t.TempDir(), "root.pem")
	if err := os.WriteFile(root, authorities, 0o600); err != nil {
		t.Fatal(err)
	}
	secure := "rediss://load@" + server.TLS + ",ca=" + root
	comesBack(t, Redis(), secure+",prefix=load,password_env=REDIS_RIGHT")
	at := "redis://load@" + server.Address()
	for place, want := range map[string]string{
		secure + ",prefix=load,password_env=REDIS_WRONG":                 "WRONGPASS",
		at + ",password_env=REDIS_RIGHT":                                 "keys with the prefix",
		"redis://poor@" + server.Address() + ",password_env=REDIS_RIGHT": "give the user EVAL",
		at:                       "a user without a password",
		"rediss://" + server.TLS: "certificate",
		"redis://" + server.Address() + ",ca=" + root:                              "write rediss://",
		"redis://" + server.Address() + "/one":                                     "write its number",
		"redis://" + server.Address() + ",prefix={a}":                              "without braces",
		"redis://127.0.0.1:1":                                                      "start it, or correct the address",
		"http://127.0.0.1":                                                         "write rediss://",
		"redis://load:" + wrong + "@127.0.0.1":                                     "use password_file=FILE",
		"rediss://" + server.TLS + ",ca=" + filepath.Join(t.TempDir(), "none.pem"): "no such file",
	} {
		if err := checked(Redis(), place); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
}

// A server that is a replica now rejects rows for as long as the connection is kept: the next try asks who has the address.
func TestRedisFailover(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var all sync.WaitGroup
	defer all.Wait()
	defer func() { _ = l.Close() }()
	all.Go(func() {
		for _, answer := range []string{"-READONLY You can't write against a read only replica.\r\n", ":1\r\n"} {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				in := bufio.NewReader(c)
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						_ = c.Close()
						return
					}
					if strings.HasPrefix(line, "EVAL") {
						_, _ = io.WriteString(c, answer)
					}
				}
			})
		}
	})
	k := Redis()
	s, err := outputs.Parse(&k, "redis://"+l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	sink, err := k.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	row := outputs.Batch{Rows: outputstest.Rows("a")[:1]}
	if out := sink.Deliver(t.Context(), row); out.Verdict != outputs.VerdictAgain || !strings.Contains(out.Why, "READONLY") {
		t.Errorf("a replica: %+v", out)
	}
	if out := sink.Deliver(t.Context(), row); out.Verdict != outputs.VerdictDelivered {
		t.Errorf("the next try: %+v", out)
	}
	sink.Close()
}

// What a server answers may be anything.
func FuzzRedisAnswers(f *testing.F) {
	f.Add([]byte(`[["0",["a","b"]]]`))
	f.Add([]byte(`[null,"{}"]`))
	f.Add([]byte(`["` + strings.ReplaceAll(string(outputs.AppendJSON(nil, &outputstest.Rows("a")[0])), `"`, `\"`) + `"]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if next, _, err := parseScan(b); err == nil && next == "" {
			t.Error("a scan without an end")
		}
		if rows, err := parseRows(b); err == nil {
			for i := range rows {
				if rows[i].Kind == outputs.RowNone {
					t.Error("a row of no kind")
				}
			}
		}
	})
}
