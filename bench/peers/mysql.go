package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	mysqlConnections = 64
	mysqlRows        = "10000"
)

// crowdMySQL is a MariaDB for many connections: a thread for each would be the server's memory, not ours.
func crowdMySQL(dir string, cpus []int) (*server, error) {
	return startMariaDB(dir, cpus, "--thread-handling=pool-of-threads", "--max-connections=20000", "--back-log=10000", "--open-files-limit=20000", "--connect-timeout=60", "--performance-schema=OFF")
}

// startMySQL starts MariaDB with sysbench's table.
func startMySQL(dir string, cpus []int) (*server, error) {
	if lookup("sysbench") == "" {
		return nil, errors.New("sysbench is missing: apt-get install sysbench")
	}
	s, err := startMariaDB(dir, cpus)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(s.Address)
	if _, err := exec.Command(lookup("sysbench"), append(sysbench(port), "prepare")...).Output(); err != nil {
		return nil, errors.Join(fmt.Errorf("sysbench makes no table at %s: %w", s.Address, err), s.close())
	}
	return s, nil
}

// startMariaDB starts MariaDB with a database and a user. It counts executions of prepared statements.
func startMariaDB(dir string, cpus []int, more ...string) (*server, error) {
	for _, name := range []string{"mariadbd", "mariadb-install-db", "mariadb"} {
		if lookup(name) == "" {
			return nil, errors.New(name + " is missing: apt-get install mariadb-server")
		}
	}
	dir = filepath.Join(dir, "mysql")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var as []string
	if os.Geteuid() == 0 {
		as = []string{"--user=root"} // the directory is root's alone
	}
	data := "--datadir=" + filepath.Join(dir, "data")
	if out, err := exec.Command(lookup("mariadb-install-db"), append([]string{"--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db"}, as...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(lookup("mariadbd"), append([]string{"--no-defaults", data, "--port=" + port, "--bind-address=127.0.0.1", "--socket=" + filepath.Join(dir, "s"), "--pid-file=" + filepath.Join(dir, "pid"), "--skip-name-resolve"}, append(as, more...)...)...), Address: address}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	ask := func(statement string) ([]byte, error) {
		return exec.Command(lookup("mariadb"), "--no-defaults", "-h127.0.0.1", "-P"+port, "-uroot", "-N", "-B", "-e", statement).Output()
	}
	s.count = func() (uint64, error) {
		out, err := ask("show global status like 'Com_stmt_execute'")
		if err != nil {
			return 0, err
		}
		_, n, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
		return strconv.ParseUint(n, 10, 64)
	}
	for range 200 {
		if _, err = s.count(); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err == nil {
		_, err = ask("create database if not exists shop; create user if not exists app@'127.0.0.1'; grant all on shop.* to app@'127.0.0.1'")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mariadbd does not answer at %s: %w", address, err), s.close())
	}
	return s, nil
}

// sysbench are the arguments that all its commands have.
func sysbench(port string) []string {
	return []string{"oltp_point_select", "--mysql-host=127.0.0.1", "--mysql-port=" + port, "--mysql-user=app", "--mysql-db=shop", "--tables=1", "--table-size=" + mysqlRows}
}

// sysbenchRun makes a contender of sysbench.
func (b *bench) sysbenchRun(s *server) contender {
	_, port, _ := net.SplitHostPort(s.Address)
	args := append([]string{lookup("sysbench")}, sysbench(port)...)
	args = append(args, "--threads="+strconv.Itoa(mysqlConnections), "--time="+strconv.Itoa(int(b.duration.Seconds())), "run")
	return contender{name: "sysbench", command: command{Limit: 4*b.duration + time.Minute, Args: args}, read: readSysbench}
}

var (
	sysbenchQueries = regexp.MustCompile(`(?m)^\s+total:\s+(\d+)$`)
	sysbenchLatency = regexp.MustCompile(`(?m)^\s+(avg|95th percentile|max):\s+([0-9.]+)$`)
)

// readSysbench reads the report of a run.
func readSysbench(out []byte) (told, error) {
	found := sysbenchQueries.FindSubmatch(out)
	if found == nil {
		return told{}, fmt.Errorf("sysbench: no total of queries in %.200q", out)
	}
	n, err := strconv.ParseUint(string(found[1]), 10, 64)
	if err != nil {
		return told{}, fmt.Errorf("sysbench: %w", err)
	}
	t := told{Requests: n, Latency: map[string]time.Duration{}}
	for _, one := range sysbenchLatency.FindAllSubmatch(out, -1) {
		ms, err := strconv.ParseFloat(string(one[2]), 64)
		if err != nil {
			return told{}, fmt.Errorf("sysbench: %w", err)
		}
		t.Latency[map[string]string{"avg": "mean", "95th percentile": "p95", "max": "max"}[string(one[1])]] = seconds(ms / 1000)
	}
	return t, nil
}

// mysql compares point selects by prepared statements on 64 connections.
func (b *bench) mysql() error {
	s, err := startMySQL(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	step := fmt.Sprintf("step(\"read\", sql.query(\"mysql://app@%s/shop\", \"SELECT c FROM sbtest1 WHERE id=?\", args = [4242]))", s.Address)
	us, err := b.ours("mysql", 1, flow{Name: "mysql", Step: step, VUs: mysqlConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	all, err := b.floor([]contender{us, b.sysbenchRun(s)}, loopConfig{Name: "epoll-mysql", Address: s.Address, Connections: mysqlConnections})
	if err != nil {
		return err
	}
	rows := b.cost("mysql", fmt.Sprintf("%d connections, prepared", mysqlConnections), s, all)
	b.bars("0.7", rows, rival{"sysbench", 1 / 0.7})
	b.floorTold(rows, "epoll-mysql", rival{"sysbench", 1 / 0.7})
	return nil
}

func (b *bench) takesMySQL() time.Duration { return b.turns(3*b.rounds, b.duration) }
