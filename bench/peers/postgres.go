package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cluster is a PostgreSQL server of our own with pgbench's tables.
type cluster struct {
	*server
	dir, bin, port string
	as             *syscall.Credential // nil: our own user
}

// startPostgres starts PostgreSQL, which does not run as root: then it is the user postgres.
func startPostgres(cpus []int) (*cluster, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 || lookup("pgbench", filepath.Join(filepath.Dir(found[0]), "pgbench")) == "" {
		return nil, errors.New("postgres or pgbench is missing: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "peers-postgres")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, bin: filepath.Dir(found[len(found)-1])}
	if err := c.begin(cpus); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *cluster) begin(cpus []int) error {
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return err
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		c.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(c.dir, int(uid), int(gid)); err != nil {
			return err
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.port = strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	if err := free.Close(); err != nil {
		return err
	}
	data := filepath.Join(c.dir, "data")
	if out, err := c.program("initdb", "-D", data, "-A", "trust", "-U", "app", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	args := []string{"-D", data, "-p", c.port, "-h", "127.0.0.1", "-k", "", "-c", "fsync=off", "-c", "autovacuum=off", "-c", "max_connections=200"}
	c.server = &server{cmd: c.program("postgres", args...), Address: net.JoinHostPort("127.0.0.1", c.port), count: c.transactions}
	if err := startOn(c.cmd, cpus); err != nil {
		return err
	}
	for range 200 {
		if c.program("pg_isready", "-q", "-h", "127.0.0.1", "-p", c.port).Run() == nil {
			if _, err := c.ask("create database shop"); err != nil {
				return err
			}
			out, err := c.program("pgbench", "-i", "-q", "-U", "app", "-h", "127.0.0.1", "-p", c.port, "shop").CombinedOutput()
			if err != nil {
				return fmt.Errorf("pgbench -i: %w: %s", err, out)
			}
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("postgres does not answer")
}

// program is one of the server's, in the server's name.
func (c *cluster) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	return cmd
}

// ask runs a statement in the database postgres.
func (c *cluster) ask(statement string) (string, error) {
	out, err := c.program("psql", "-h", "127.0.0.1", "-p", c.port, "-U", "app", "-d", "postgres", "-X", "-A", "-t", "-q", "-c", statement).Output()
	return strings.TrimSpace(string(out)), err
}

// transactions waits until shop has no connection, and returns what the server counted there, without
// the transactions that begin a session.
func (c *cluster) transactions() (uint64, error) {
	for range 500 {
		text, err := c.ask("select numbackends || ' ' || xact_commit + xact_rollback - sessions from pg_stat_database where datname = 'shop'")
		var open, n uint64
		if err == nil {
			_, err = fmt.Sscan(text, &open, &n)
		}
		if err != nil || open == 0 {
			return n, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, errors.New("connections to shop do not end")
}

func (c *cluster) close() error {
	if c.server != nil && c.cmd.Process != nil {
		_ = c.cmd.Process.Signal(syscall.SIGQUIT) // its backends, too
		time.Sleep(300 * time.Millisecond)
		_ = c.server.close()
	}
	return os.RemoveAll(c.dir)
}

// pgbench makes a contender of pgbench, its own select alone.
func (b *bench) pgbench(c *cluster, vus int, mode string) contender {
	args := []string{filepath.Join(c.bin, "pgbench"), "-n", "-S", "-M", mode, "-c", strconv.Itoa(vus), "-T", strconv.Itoa(int(b.duration.Seconds())), "-U", "app", "-h", "127.0.0.1", "-p", c.port, "shop"}
	return contender{name: "pgbench", command: command{Limit: b.duration + time.Minute, Args: args}, read: readPgbench}
}

var (
	pgbenchCount   = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	pgbenchFailed  = regexp.MustCompile(`number of failed transactions: (\d+)`)
	pgbenchLatency = regexp.MustCompile(`latency average = ([\d.]+) ms`)
)

// readPgbench reads what pgbench tells at its end.
func readPgbench(out []byte) (told, error) {
	count, latency := pgbenchCount.FindSubmatch(out), pgbenchLatency.FindSubmatch(out)
	if count == nil || latency == nil {
		return told{}, fmt.Errorf("pgbench: no figures in %q", out)
	}
	n, err := strconv.ParseUint(string(count[1]), 10, 64)
	ms, wrong := strconv.ParseFloat(string(latency[1]), 64)
	t := told{Requests: n, Latency: map[string]time.Duration{"mean": seconds(ms / 1000)}}
	if failed := pgbenchFailed.FindSubmatch(out); failed != nil {
		t.Failed, _ = strconv.ParseUint(string(failed[1]), 10, 64)
	}
	return t, errors.Join(err, wrong)
}

const postgresConnections = 64

// postgres compares pgbench's select on 64 connections, prepared and as text.
func (b *bench) postgres() error {
	c, err := startPostgres(b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = c.close() }()
	for _, mode := range []string{"prepared", "simple"} {
		client := fmt.Sprintf("sql.client(\"postgres://app@%s/shop\", statements = %q)", c.Address, mode)
		f := flow{Name: "postgres", VUs: postgresConnections, Duration: b.duration}
		f.Step = fmt.Sprintf(`step("read", sql.query(%s, "SELECT abalance FROM pgbench_accounts WHERE aid = 4242"))`, client)
		if mode == "prepared" {
			f.More = `feed = feed.list([{"aid": "%d" % (1 + i * 7919 % 100000)} for i in range(10000)]), `
			f.Step = fmt.Sprintf(`step("read", sql.query(%s, "SELECT abalance FROM pgbench_accounts WHERE aid = $1", args = ["${aid}"]))`, client)
		}
		us, err := b.ours("postgres", 1, f)
		if err != nil {
			return err
		}
		rows := b.cost("postgres", fmt.Sprintf("%d connections, %s", postgresConnections, mode), c.server, []contender{us, b.pgbench(c, postgresConnections, mode)})
		b.bars("1.0", rows, rival{"pgbench", 1})
	}
	return nil
}

func (b *bench) takesPostgres() time.Duration { return b.turns(4*b.rounds, b.duration) }
