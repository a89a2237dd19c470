package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
	"unsafe"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"
)

// mortal is a protocol whose server is killed, and started again with what it had kept.
type mortal struct {
	name  string
	start func(*bench, string) (*server, error) // in a directory of its own; its count outlives a kill. Without one the server forgets
	step  string                                // the server's address replaces ADDRESS: see filled
	more  string                                // of the workflow
	most  time.Duration                         // that it takes to start; zero: mortalStarts
	spare float64                               // descriptors that its users have at times, as data connections are
}

// A server is killed each killsEvery, and is gone for at most killsGone.
const (
	killsEvery   = 20 * time.Second
	killsGone    = 2 * time.Second
	killsUsers   = 16
	mortalStarts = 15 * time.Second
)

// mortals are the protocols whose servers are killed, in the order of the manual.
var mortals = []mortal{
	{name: "http1", start: remembering("http1"), step: `http.get("http://ADDRESS/")`},
	{name: "http2", start: remembering("http2"), step: `http.get("http://ADDRESS/")`, more: `http = http.client(version = "2"), `},
	{name: "websocket", start: remembering("websocket"), step: `websocket.exchange("ws://ADDRESS/", send = ["hello"], receive = 1)`},
	{name: "grpc", start: remembering("grpc"), step: fmt.Sprintf(`grpc.call(grpc.client("grpc://ADDRESS", schema = grpc.proto("shop.proto")), %q, {"id": "7"})`, grpcMethod)},
	{name: "redis", start: keepingRedis, step: `redis.command("redis://ADDRESS", "INCR", "kept")`},
	{name: "postgres", start: keepingPostgres, step: `sql.query("postgres://app@ADDRESS/shop", "INSERT INTO kept DEFAULT VALUES")`},
	{name: "mysql", start: keepingMySQL, step: `sql.query("mysql://app@ADDRESS/shop", "INSERT INTO kept VALUES (NULL)")`},
	{name: "nats", start: keepingNATS, step: `nats.publish("nats://ADDRESS", "kept.one", "hello", stream = True)`},
	{name: "mqtt", start: forgetting(startMQTT), step: `mqtt.publish("mqtt://ADDRESS", "dev/1/t", "hello", qos = 1)`},
	{name: "amqp", start: keepingRabbitMQ, step: `amqp.publish("amqp://ADDRESS", key = "kept", body = "hello", confirm = True, persistent = True)`, most: time.Minute},
	{name: "kafka", start: forgetting(portedKafka), step: `kafka.produce("kafka://ADDRESS", "orders", "hello")`},
	{name: "http3", start: keepingHTTP3, step: `http.get("https://ADDRESS/")`, more: http3Client},
	{name: "sse", start: remembering("sse"), step: `sse.read("http://ADDRESS/", events = 1, within = "10s")`},
	{name: "tcp", start: remembering("tcp"), step: `tcp.exchange("tcp://ADDRESS", send = "hello\n", receive = tcp.line())`},
	{name: "mongodb", start: remembering("mongodb"), step: `mongodb.find("mongodb://ADDRESS/shop", "orders", {"_id": 7}, limit = 1)`},
	{name: "smtp", start: keepingSMTP, step: `smtp.send(smtp.client("smtp://ADDRESS", per_connection = 1000000), sender = "a@x.test", to = "b@y.test", subject = "test", body = "` + keptMail + `")`},
	{name: "ftp", start: keepingFTP, step: fmt.Sprintf(`ftp.get(ftp.client("ftp://anonymous@ADDRESS", password = %q, tls = "never"), "vsftpd.file")`, ftpPassword), spare: killsUsers},
	{name: "sftp", start: keepingSFTP, step: `sftp.get(sftp.client("sftp://USER@ADDRESS", key = KEY, host_keys = "any"), "DIR/sshd.file")`},
	{name: "nats-shared", start: keepingNATS, step: `nats.publish(nats.client("nats://ADDRESS", connections = 4), "kept.one", "hello", stream = True)`},
	{name: "amqp-shared", start: keepingRabbitMQ, step: `amqp.publish(amqp.client("amqp://ADDRESS", connections = 4), key = "kept", body = "hello", confirm = True, persistent = True)`, most: time.Minute},
}

// remembering starts one of our servers at a fixed port; it counts in a file.
func remembering(kind string) func(*bench, string) (*server, error) {
	return func(b *bench, dir string) (*server, error) {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, "ledger")
		s, err := startServer(serverConfig{Kind: kind, Listen: address, Ledger: path}, b.serverCPUs)
		if err != nil {
			return nil, err
		}
		s.count = func() (uint64, error) { return ledger(path) }
		return s, nil
	}
}

// forgetting adapts a server that keeps nothing.
func forgetting(start func(string, []int) (*server, error)) func(*bench, string) (*server, error) {
	return func(b *bench, dir string) (*server, error) {
		s, err := start(dir, b.serverCPUs)
		if err == nil {
			s.count = nil
		}
		return s, err
	}
}

func portedKafka(dir string, cpus []int) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return startKafka(dir, cpus, "-topics", "orders:4", "-blackhole", "-port", port)
}

func keepingRedis(b *bench, dir string) (*server, error) {
	s, err := startRedis(dir, b.serverCPUs, "--appendonly", "yes", "--appendfsync", "always")
	if err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) {
		c, err := net.DialTimeout("tcp", s.Address, time.Second)
		if err != nil {
			return 0, err
		}
		defer func() { _ = c.Close() }() // it was only asked
		if err := errors.Join(c.SetDeadline(time.Now().Add(5*time.Second)), tell(c, "INCRBY kept 0\r\n")); err != nil {
			return 0, err
		}
		var n uint64
		_, err = fmt.Fscanf(c, ":%d\r\n", &n)
		return n, err
	}
	return s, nil
}

func tell(c io.Writer, text string) error {
	_, err := io.WriteString(c, text)
	return err
}

func keepingPostgres(b *bench, _ string) (*server, error) {
	c, err := startPostgres(b.serverCPUs)
	if err != nil {
		return nil, err
	}
	shop := func(statement string) (string, error) {
		out, err := c.program("psql", "-h", "127.0.0.1", "-p", c.port, "-U", "app", "-d", "shop", "-X", "-A", "-t", "-q", "-c", statement).Output()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := shop("create table kept (id bigserial primary key)"); err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.server.count = func() (uint64, error) {
		text, err := shop("select count(*) from kept")
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(text, 10, 64)
	}
	c.server.after = func() { _ = os.RemoveAll(c.dir) }
	return c.server, nil
}

func keepingMySQL(b *bench, dir string) (*server, error) {
	s, err := startMySQL(dir, b.serverCPUs)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return nil, err
	}
	ask := func(statement string) ([]byte, error) {
		return exec.Command(lookup("mariadb"), "--no-defaults", "-h127.0.0.1", "-P"+port, "-uroot", "-N", "-B", "-e", statement, "shop").Output()
	}
	if _, err := ask("create table kept (id bigint auto_increment primary key) engine=innodb"); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.count = func() (uint64, error) {
		out, err := ask("select count(*) from kept")
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	}
	return s, nil
}

func keepingNATS(b *bench, dir string) (*server, error) {
	s, err := startNATS(dir, b.serverCPUs, fmt.Sprintf("jetstream {store_dir: %q}", filepath.Join(dir, "streams")))
	if err != nil {
		return nil, err
	}
	with := func(do func(nats.JetStreamContext) error) error {
		c, err := nats.Connect("nats://" + s.Address)
		if err != nil {
			return err
		}
		defer c.Close()
		streams, err := c.JetStream()
		if err != nil {
			return err
		}
		return do(streams)
	}
	err = with(func(streams nats.JetStreamContext) error {
		_, err := streams.AddStream(&nats.StreamConfig{Name: "KEPT", Subjects: []string{"kept.*"}})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.count = func() (n uint64, err error) {
		err = with(func(streams nats.JetStreamContext) error {
			i, err := streams.StreamInfo("KEPT")
			if err == nil {
				n = i.State.Msgs
			}
			return err
		})
		return n, err
	}
	return s, nil
}

func keepingRabbitMQ(b *bench, dir string) (*server, error) {
	s, err := startRabbitMQ(dir, b.serverCPUs)
	if err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) { return queueLength(s.Address, "kept", true) }
	_, err = s.count()
	return s, err
}

func freeAddress() (string, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return free.Addr().String(), free.Close()
}

// alive waits until a server answers, and starts it again while its process ends at once.
func (s *server) alive(cpus []int, most time.Duration) error {
	for deadline := time.Now().Add(most); ; time.Sleep(50 * time.Millisecond) {
		err := s.answers()
		select {
		case <-s.ended: // it found what the killed one had left
			err = s.again(cpus)
			if err == nil {
				err = errors.New("it ends at once")
			}
		default:
		}
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server does not answer again at %s: %w", s.Address, err)
		}
	}
}

// answers asks a server for its count, which may stand in a file, and for a connection.
func (s *server) answers() error {
	if s.count != nil {
		if _, err := s.count(); err != nil {
			return err
		}
	}
	if s.udp {
		return nil
	}
	return s.connects()
}

// connects opens a connection to a server.
func (s *server) connects() error {
	c, err := net.DialTimeout("tcp", s.Address, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// again starts a server as it was.
func (s *server) again(cpus []int) error {
	was := s.cmd
	s.cmd = exec.Command(was.Path, was.Args[1:]...)
	s.cmd.Dir, s.cmd.Env, s.cmd.SysProcAttr = was.Dir, was.Env, was.SysProcAttr
	if s.in != nil {
		in, err := s.cmd.StdinPipe()
		if err != nil {
			return err
		}
		s.in = in
	}
	if err := startOn(s.cmd, cpus); err != nil {
		return err
	}
	s.watch()
	return nil
}

// watch waits for the end of a server's process.
func (s *server) watch() {
	cmd, ended := s.cmd, make(chan struct{})
	s.ended = ended
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
}

// die kills a server and all that it has started.
func (s *server) die() {
	for _, p := range tree(s.cmd.Process.Pid) {
		_ = unix.Kill(p, unix.SIGKILL) // it may have gone
	}
	<-s.ended
}

// kills has load while a server is killed each 20 s: what the result says must add up, and agree with what the server kept.
func (b *bench) kills() error {
	if err := b.schema(); err != nil {
		return err
	}
	chosen := mortals
	if b.protocol != "" {
		chosen = slices.DeleteFunc(slices.Clone(mortals), func(m mortal) bool { return m.name != b.protocol })
	}
	found, failed := make([]survived, len(chosen)), make([]error, len(chosen))
	var group sync.WaitGroup
	for i, m := range chosen {
		group.Go(func() { found[i], failed[i] = b.outlive(m) })
	}
	group.Wait()
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(t, "\n  \tkills\tstarted\tok\tfailed\ttimed out\tsent\tserver kept\tdescriptors\tMiB\t\n")
	for i, m := range chosen {
		if failed[i] != nil {
			_, _ = fmt.Fprintf(t, "  %s\t%v\n", m.name, failed[i])
		} else {
			_, _ = fmt.Fprintf(t, "  %s\t%v\n", m.name, &found[i])
		}
		b.report.judge(verdict{Bar: "kills", What: m.name + ": what is wrong", Got: float64(found[i].wrong())}, failed[i] == nil)
	}
	return t.Flush()
}

func (b *bench) takesKills() time.Duration { return b.killsRun() + 30*time.Second }

func (b *bench) killsRun() time.Duration {
	if b.quick {
		return time.Minute
	}
	return 10 * time.Minute
}

// survived is what a run says of a server that was killed, beside what the server kept.
type survived struct {
	kills  int
	totals struct {
		Started   uint64 `json:"started"`
		Sent      uint64 `json:"sent"`
		OK        uint64 `json:"ok"`
		Failed    uint64 `json:"failed"`
		TimedOut  uint64 `json:"timed_out"`
		Cancelled uint64 `json:"cancelled"`
	}
	counts       bool
	kept         uint64
	files, anons []float64 // of the executor, each second
	spare        float64   // of the protocol
}

// wrong counts what does not agree.
func (s *survived) wrong() (n int) {
	for _, is := range []bool{
		s.kills == 0 || s.totals.OK == 0 || s.totals.Failed == 0,
		s.totals.Started != s.totals.OK+s.totals.Failed+s.totals.TimedOut+s.totals.Cancelled,
		s.counts && (s.kept < s.totals.OK || s.kept > s.totals.Sent),
		rises(s.files, 0, 2+s.spare), rises(s.anons, 0.25, 4),
	} {
		if is {
			n++
		}
	}
	return n
}

// rises says that the last third of a row goes beyond the second by more than a share and an amount.
func rises(row []float64, share, amount float64) bool {
	third := len(row) / 3
	if third == 0 {
		return true
	}
	return slices.Max(row[2*third:]) > slices.Max(row[third:2*third])*(1+share)+amount
}

func (s *survived) String() string {
	kept := "-"
	if s.counts {
		kept = strconv.FormatUint(s.kept, 10)
	}
	span := func(row []float64) string {
		if len(row) == 0 {
			return "-"
		}
		return fmt.Sprintf("%.0f-%.0f", slices.Min(row), slices.Max(row))
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t", s.kills, s.totals.Started, s.totals.OK, s.totals.Failed, s.totals.TimedOut, s.totals.Sent, kept, span(s.files), span(s.anons))
}

// outlive runs a protocol while its server dies.
func (b *bench) outlive(m mortal) (survived, error) {
	r := survived{spare: m.spare}
	dir := filepath.Join(b.dir, "kills-"+m.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	s, err := m.start(b, dir)
	if err != nil {
		return r, err
	}
	s.watch()
	defer func() {
		s.die()
		if s.after != nil {
			s.after()
		}
	}()
	step, err := m.filled(s, dir)
	if err != nil {
		return r, err
	}
	flow := flow{Name: m.name, Step: fmt.Sprintf("step(\"ask\", %s)", step), VUs: killsUsers, Duration: b.killsRun(), More: m.more + "think = \"50ms\", "}
	path, err := ours{b.binary, b.dir}.write("kills-"+m.name, flow)
	if err != nil {
		return r, err
	}
	result := filepath.Join(dir, "result.json")
	run := exec.Command(b.binary, "run", path, "--cores", "1", "--quiet", "--ui", "none", "--out", "json="+result)
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		return r, err
	}
	defer func() { _ = said.Close() }() // nothing reads it later
	run.Stdout, run.Stderr = said, said
	if err := startOn(run, b.clientCPUs); err != nil {
		return r, err
	}
	over, stop := context.WithCancel(context.Background())
	var watched sync.WaitGroup
	watched.Go(func() { r.watch(over, run.Process.Pid) })
	var undead error
	var ending atomic.Bool
	time.AfterFunc(b.killsRun()-killsEvery/4, func() { ending.Store(true) })
	watched.Go(func() { r.kills, undead = b.haunt(over, s, m, &ending) })
	_ = run.Wait() // a run with failures exits with 1
	stop()
	watched.Wait()
	if undead != nil {
		return r, undead
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return r, err
	}
	if r.counts = s.count != nil; r.counts {
		if r.kept, err = s.count(); err != nil {
			return r, err
		}
	}
	return r, json.Unmarshal(text, &struct{ Totals any }{&r.totals})
}

// haunt kills a server again and again, and lets it live before the run ends.
func (b *bench) haunt(ctx context.Context, s *server, m mortal, ending *atomic.Bool) (kills int, _ error) {
	every := killsEvery
	if b.quick {
		every /= 4
	}
	most := m.most
	if most == 0 {
		most = mortalStarts
	}
	for {
		select {
		case <-ctx.Done():
			return kills, nil
		case <-time.After(every/2 + rand.N(every)):
		}
		if ending.Load() {
			continue
		}
		s.die()
		kills++
		time.Sleep(rand.N(killsGone))
		if err := s.again(b.serverCPUs); err != nil {
			return kills, err
		}
		if err := s.alive(b.serverCPUs, most); err != nil {
			return kills, err
		}
	}
}

// watch counts each second what an executor has open, and its memory.
func (r *survived) watch(ctx context.Context, pid int) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, p := range tree(pid)[1:] {
			files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p))
			if anon := memoryOf(p).Anon; err == nil && anon > 0 {
				r.files, r.anons = append(r.files, float64(len(files))), append(r.anons, mebi(anon))
			}
		}
	}
}

// tallied counts in memory, or in a file that outlives its process.
type tallied struct {
	own  atomic.Uint64
	file *atomic.Uint64
}

func (t *tallied) at() *atomic.Uint64 {
	if t.file != nil {
		return t.file
	}
	return &t.own
}

// Add counts.
func (t *tallied) Add(n uint64) { t.at().Add(n) }

// Load returns the count.
func (t *tallied) Load() uint64 { return t.at().Load() }

// open counts in a file from now on.
func (t *tallied) open(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the mapping stays
	const size = 8
	if err := f.Truncate(size); err != nil {
		return err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	t.file = (*atomic.Uint64)(unsafe.Pointer(&b[0])) // a page's beginning
	return nil
}
