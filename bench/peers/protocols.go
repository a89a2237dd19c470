package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// spoken is a protocol whose server stands still, or holds many connections.
type spoken struct {
	name string
	each func(*bench) (address string, s *server, close func() error, err error)
	step string // the address replaces ADDRESS
	head string // what stands before the workflow
	more string // further arguments of workflow(), each with a comma behind it
	// rests says that only memory is measured: its server cannot stand still
	rests bool
	// connections is the most of a run, here; 0: one server does not hold one for each user
	connections int
	most        [2]float64 // MiB of an executor with 1,000 of them, and with 10,000
	// lasts is how long the largest run takes, if to connect takes long: each asks every 20 s then. 0: as others
	lasts time.Duration
}

// plain adapts what starts a server with a directory.
func plain(start func(string, []int) (*server, error)) func(*bench) (string, *server, func() error, error) {
	return func(b *bench) (string, *server, func() error, error) {
		s, err := start(b.dir, b.serverCPUs)
		if err != nil {
			return "", nil, nil, err
		}
		return s.Address, s, s.close, nil
	}
}

// served adapts one of our servers.
func served(kind string) func(*bench) (string, *server, func() error, error) {
	return plain(func(_ string, cpus []int) (*server, error) { return startServer(serverConfig{Kind: kind}, cpus) })
}

// lives are the protocols of an experiment, in the order of the manual.
var lives = []spoken{
	{name: "websocket", each: served("websocket"), step: `websocket.exchange("ws://ADDRESS/", send = ["hello"], receive = 1)`, connections: 10_000, most: [2]float64{15, 60}},
	{name: "grpc", each: served("grpc"), step: fmt.Sprintf(`grpc.call(grpc.client("grpc://ADDRESS", schema = grpc.proto("shop.proto")), %q, {"id": "7"})`, grpcMethod), connections: 10_000, most: [2]float64{20, 110}},
	{name: "redis", each: plain(func(dir string, cpus []int) (*server, error) { return startRedis(dir, cpus) }), step: `redis.command("redis://ADDRESS", "GET", "key:7")`, connections: 10_000, most: [2]float64{12, 50}},
	{name: "postgres", each: func(b *bench) (string, *server, func() error, error) {
		c, err := startPostgres(b.serverCPUs)
		if err != nil {
			return "", nil, nil, err
		}
		return c.Address, c.server, c.close, nil
	}, step: `sql.query("postgres://app@ADDRESS/shop", "SELECT abalance FROM pgbench_accounts WHERE aid = 7")`},
	{name: "mysql", each: plain(crowdMySQL), step: `sql.query("mysql://app@ADDRESS/shop", "SELECT ?", args = [4242])`, connections: 10_000, most: [2]float64{20, 80}, lasts: 60 * time.Second},
	{name: "mongodb", each: served("mongodb"), step: `mongodb.find("mongodb://ADDRESS/shop", "orders", {"_id": 7}, limit = 1)`, connections: 10_000, most: [2]float64{20, 80}},
	{name: "nats", each: plain(func(dir string, cpus []int) (*server, error) { return startNATS(dir, cpus) }), step: `nats.publish("nats://ADDRESS", "orders.new", "hello", flush = True)`, connections: 10_000, most: [2]float64{12, 50}},
	{name: "mqtt", each: plain(startMQTT), step: `mqtt.publish("mqtt://ADDRESS", "dev/1/t", "hello", qos = 1)`, connections: 10_000, most: [2]float64{12, 50}},
	{name: "amqp", each: plain(startRabbitMQ), step: fmt.Sprintf(`amqp.publish("amqp://ADDRESS", key = %q, body = "hello", confirm = True)`, amqpQueue), connections: 10_000, most: [2]float64{25, 150}, lasts: 120 * time.Second},
	{name: "kafka", each: plain(func(dir string, cpus []int) (*server, error) { return startKafka(dir, cpus) }), step: `kafka.produce("kafka://ADDRESS", "orders", "hello")`, connections: 10_000, most: [2]float64{30, 30}}, // users share a connection
	{name: "smtp", each: func(b *bench) (string, *server, func() error, error) {
		s, err := b.startSink()
		if err != nil {
			return "", nil, nil, err
		}
		return s.Address, s, s.close, nil
	}, step: smtpStep, connections: 10_000, most: [2]float64{15, 60}},
	{name: "ftp", each: served("ftp"), step: fmt.Sprintf(`ftp.get(ftp.client("ftp://anonymous@ADDRESS", password = %q, tls = "never"), "file")`, ftpPassword), connections: 9_900, most: [2]float64{20, 90}},
	{name: "sftp", each: served("sftp"), step: `sftp.get(sftp.client("sftp://app@ADDRESS", password = "bench", host_keys = "any"), "/file")`, connections: 10_000, most: [2]float64{100, 800}, lasts: 120 * time.Second},
	{name: "scp", each: served("sftp"), step: `scp.get(sftp.client("sftp://app@ADDRESS", password = "bench", host_keys = "any"), "/file")`, connections: 10_000, most: [2]float64{100, 800}, lasts: 120 * time.Second, rests: true},
	{name: "sse", each: served("sse"), step: `sse.read("http://ADDRESS/", events = 5, within = "60s")`, connections: 10_000, most: [2]float64{15, 60}, rests: true},
	{name: "custom", each: writeCustom, head: "steps = custom.client([\"steps.py\"], processes = 2, in_flight = 1024)\n", step: `custom.call(steps, "ask")`, connections: 10_000, most: [2]float64{15, 60}, rests: true},
	{name: "http3", each: plain(startHTTP3), step: `http.get("https://ADDRESS/")`, more: http3Client, connections: 10_000, most: [2]float64{90, 750}, lasts: 80 * time.Second},
}

func (b *bench) lives() []spoken {
	if b.protocol == "" {
		return lives
	}
	return slices.DeleteFunc(slices.Clone(lives), func(p spoken) bool { return p.name != b.protocol })
}

// still are those whose servers can stand still.
func (b *bench) still() []spoken {
	return slices.DeleteFunc(slices.Clone(b.lives()), func(p spoken) bool { return p.rests })
}

// flow is a workflow of the protocol.
func (p spoken) flow(name, address string, vus int, lasts time.Duration, more string) flow {
	step := fmt.Sprintf("step(\"ask\", %s)", strings.ReplaceAll(p.step, "ADDRESS", address))
	return flow{Name: name, Head: p.head, Step: step, VUs: vus, Duration: lasts, More: p.more + more}
}

// schema puts the schema of gRPC beside the workflows.
func (b *bench) schema() error {
	proto, err := os.ReadFile(filepath.Join(b.dir, "../../../examples/shop.proto"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "shop.proto"), proto, 0o644)
}

const (
	stallsRate  = 100
	stallsUsers = 60 // fewer than a backlog of mosquitto holds: others wait for a second until they send SYN again
	stallsStill = 2 * time.Second
)

// stalls stops the server of each protocol for 2 s at a fixed rate, and compares what the result says with the truth.
func (b *bench) stalls() error {
	if err := b.schema(); err != nil {
		return err
	}
	for _, p := range b.still() {
		if err := b.stallOfProtocol(p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (b *bench) stallOfProtocol(p spoken) error {
	truth := stall{Run: b.stallsRun(), Stall: stallsStill, Rate: stallsRate}
	address, s, end, err := p.each(b)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = end() }()
	c, err := b.ours("stalls", 1, p.flow("stalls", address, stallsUsers, truth.Run, fmt.Sprintf("rate = \"%d/s\", when_full = \"queue\", ", stallsRate)))
	if err != nil {
		return err
	}
	still := make(chan time.Duration, 1)
	t := time.AfterFunc(truth.Run/3+time.Second, func() { still <- standStill(s.cmd.Process.Pid, stallsStill) })
	o, err := b.play(c, s)
	r := row{Experiment: "stalls", Case: p.name, Client: c.name, Note: c.missing}
	switch {
	case t.Stop():
		r.Note = "it ended before its server stood still"
	case err != nil:
		r.Note = err.Error()
	default:
		truth.Stall = <-still // as long as it really was
		r.Runs, r.Requests, r.Failed, r.Latency = 1, o.requests(), o.told.Failed, o.told.Latency
	}
	b.report.rows([]row{r})
	truthTable(b.out, p.name, truth, []row{r})
	b.tells(p.name+" stands still", "6", truth, r)
	return nil
}

func (b *bench) stallsRun() time.Duration {
	if b.quick {
		return 10 * time.Second
	}
	return 30 * time.Second
}

func (b *bench) takesStalls() time.Duration {
	return b.turns(len(b.still()), b.stallsRun()+5*time.Second)
}

// idle measures the memory of executors whose users have a connection each, on which they ask rarely.
func (b *bench) idle() error {
	if err := b.schema(); err != nil {
		return err
	}
	var rows []row
	for _, p := range b.lives() {
		for i, vus := range []int{1, 1_000, p.connections} {
			if p.connections == 0 {
				continue
			}
			r, err := b.idleOf(p, vus)
			if err != nil {
				return fmt.Errorf("%s, %d connections: %w", p.name, vus, err)
			}
			rows = append(rows, r)
			if i > 0 {
				b.report.judge(verdict{Bar: "4", What: r.Case + " connections: MiB of the executor (RssAnon)", Want: p.most[i-1], Got: r.Executors}, r.Runs > 0 && r.Requests >= uint64(vus) && r.Failed == 0)
			}
		}
	}
	if b.protocol == "" || b.protocol == "websocket" {
		r, err := b.many()
		if err != nil {
			return fmt.Errorf("many WebSockets: %w", err)
		}
		rows = append(rows, r)
	}
	b.report.rows(rows)
	idleTable(b.out, rows)
	return nil
}

const (
	manySockets = 100_000
	manyMost    = 2048 // MiB of all executors
	manyPings   = 5 * time.Second
	manyWithin  = 90 * time.Second // all at once overflow what Linux keeps of connections that no server has accepted
)

// many holds 100,000 WebSockets, whose servers ping them. No process has descriptors for all, so servers and
// executors are as many as it takes, each server at a loopback address of its own.
func (b *bench) many() (row, error) {
	r := row{Experiment: "idle", Case: fmt.Sprintf("websocket, %d", manySockets), Client: "hyperscale"}
	most, err := each()
	if err != nil {
		return r, err
	}
	parts := (manySockets + most - 1) / most
	lasts := manyWithin + max(6*b.idleRun(), 45*time.Second)
	var servers []*server
	defer func() {
		for _, s := range servers {
			_ = s.close()
		}
	}()
	var flows []flow
	for i := range parts {
		s, err := startServer(serverConfig{Kind: "websocket", Listen: fmt.Sprintf("127.0.0.%d:0", 2+i), Pings: manyPings}, b.serverCPUs)
		if err != nil {
			return r, err
		}
		servers = append(servers, s)
		vus := manySockets*(i+1)/parts - manySockets*i/parts
		f := lives[0].flow(fmt.Sprintf("many%d", i), s.Address, vus, lasts, "think = \"1h\", jitter = \"25s\", timeout = \"60s\", ")
		f.Within = manyWithin
		flows = append(flows, f)
	}
	c, err := b.ours("idle", 1, flows...) // each workflow has executors of its own
	if err != nil {
		return r, err
	}
	if r.Note = c.missing; r.Note != "" {
		return r, nil
	}
	c.command.Sample = time.Second
	o, err := b.play(c, servers[0])
	if err != nil {
		r.Note = err.Error()
		return r, nil
	}
	r.Runs, r.Requests, r.Failed, r.Executors = 1, o.told.Requests, o.told.Failed, mebi(o.usage.Below.Anon)
	pongs := uint64(0)
	for _, s := range servers {
		t, err := s.tally()
		if err != nil {
			return r, err
		}
		r.Connections += int(t.Most)
		pongs += t.Pongs
	}
	b.report.remark(b.out, fmt.Sprintf("%d WebSockets at once answered %d pings", r.Connections, pongs))
	b.report.judge(verdict{Bar: "4", What: r.Case + " connections: MiB of all executors (RssAnon)", Want: manyMost, Got: r.Executors}, r.Connections == manySockets && pongs >= manySockets && r.Failed == 0)
	return r, nil
}

func (b *bench) idleOf(p spoken, vus int) (row, error) {
	r := row{Experiment: "idle", Case: fmt.Sprintf("%s, %d", p.name, vus), Client: "hyperscale", Connections: vus}
	address, s, end, err := p.each(b)
	if err != nil {
		r.Note = err.Error()
		return r, nil
	}
	defer func() { _ = end() }()
	lasts, more := b.idleRun(), "think = \"5s\", jitter = \"4s\", timeout = \"20s\", "
	if vus == p.connections && p.lasts > 0 {
		lasts, more = p.lasts, fmt.Sprintf("think = \"20s\", jitter = \"4s\", timeout = %q, ", p.lasts)
	}
	c, err := b.ours("idle", 1, p.flow("idle", address, vus, lasts, more))
	if err != nil {
		return r, err
	}
	if r.Note = c.missing; r.Note != "" {
		return r, nil
	}
	c.command.Sample = 200 * time.Millisecond
	o, err := b.play(c, s)
	if err != nil {
		r.Note = err.Error()
		return r, nil
	}
	r.Runs, r.Requests, r.Failed, r.Executors = 1, o.told.Requests, o.told.Failed, mebi(o.usage.Below.Anon)
	return r, nil
}

func (b *bench) idleRun() time.Duration { return max(b.duration, 10*time.Second) }

func (b *bench) takesIdle() time.Duration {
	return b.turns(2*len(b.lives()), b.idleRun()+5*time.Second)
}

func idleTable(w io.Writer, rows []row) {
	_, _ = fmt.Fprintf(w, "\n connections that asked once and are open; memory of the executor at its highest\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "  protocol, connections\tanon MiB\trequests\tfailed\t")
	for _, r := range rows {
		if r.Runs > 0 {
			_, _ = fmt.Fprintf(t, "  %s\t%.1f\t%d\t%d\t\n", r.Case, r.Executors, r.Requests, r.Failed)
		}
	}
	_ = t.Flush() // what cannot be printed is in the file
	notes(w, rows)
}
