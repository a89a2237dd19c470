package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the comparison.
type bench struct {
	binary   string
	cache    string
	dir      string // scratch
	rounds   int
	duration time.Duration
	quick    bool
	alone    bool
	protocol string // of stalls, kills and idle; "": each

	clientCPUs []int
	serverCPUs []int
	tools      map[string]tool
	out        io.Writer // for people
	report     report
	how        how
}

// experiment is one that can be selected.
type experiment struct {
	name  string
	about string
	run   func(*bench) error
	takes func(*bench) time.Duration // about
	peers []string                   // that must be built for it
}

var experiments = []experiment{
	{"plaintext", "HTTP/1.1, a small answer, 64 and 500 connections (bar 1)", (*bench).plaintext, (*bench).takesPlaintext, []string{"k6", "vegeta", "bombardier", "hey"}},
	{"function", "a function step with one request and one check (bar 2)", (*bench).function, (*bench).takesFunction, []string{"k6"}},
	{"http2", "8 connections of 16 streams, 64 of 1 (bar 3)", (*bench).http2, (*bench).takesHTTP2, []string{"vegeta", "h2load"}},
	{"websocket", "an exchange of messages, 64 connections (bar 0.7 of a loop over gobwas/ws)", (*bench).websocket, (*bench).takesWebsocket, nil},
	{"redis", "GETs, 64 connections, alone and in pipelines of 16 (bars 1.0 and 1.3 of redis-benchmark)", (*bench).redis, (*bench).takesRedis, nil},
	{"mqtt", "publications of QoS 1, 64 connections (bar 0.3 of a loop over paho.mqtt.golang)", (*bench).mqtt, (*bench).takesMQTT, nil},
	{"nats", "publications that a PONG confirms, 64 connections, and 512 users on 8 (bars 0.6 of a loop over nats.go)", (*bench).nats, (*bench).takesNATS, nil},
	{"kafka", "records that are acknowledged, 64 at once (bar 0.8 of a loop over franz-go)", (*bench).kafka, (*bench).takesKafka, nil},
	{"kafka-read", "a log of 100,000 records, read by 16 consumers (beside a loop over franz-go)", (*bench).kafkaReads, (*bench).takesKafkaReads, nil},
	{"ftp", "files of 4 KiB over FTP, 16 connections (bar 0.7 of a loop over jlaffaye/ftp)", (*bench).ftp, (*bench).takesFTP, nil},
	{"sftp", "files of 4 KiB over SFTP, 16 connections (bar 1.15 of a loop over the same libraries)", (*bench).sftp, (*bench).takesSFTP, nil},
	{"http3", "GETs over HTTP/3, 64 connections (bar 0.8 of a loop over quic-go's http3.Transport)", (*bench).http3, (*bench).takesHTTP3, nil},
	{"smtp", "messages of 1 KiB, 64 connections, with PIPELINING and without (bar 1.0 of smtp-source)", (*bench).smtp, (*bench).takesSMTP, nil},
	{"mongodb", "finds of one document, 64 connections (bar 0.4 of a loop over mongo-driver)", (*bench).mongodb, (*bench).takesMongoDB, nil},
	{"amqp", "publications that RabbitMQ confirms, 64 connections, and 512 users on 8 (bars 0.5 of a loop over amqp091-go)", (*bench).amqp, (*bench).takesAMQP, nil},
	{"grpc", "64 unary calls at once, on 64 connections and on 8 (bar 0.15 of ghz)", (*bench).grpc, (*bench).takesGRPC, []string{"ghz"}},
	{"postgres", "pgbench's select, 64 connections, prepared and as text (bar 1.0 of pgbench)", (*bench).postgres, (*bench).takesPostgres, nil},
	{"mysql", "point selects by prepared statements, 64 connections (bar 0.7 of sysbench)", (*bench).mysql, (*bench).takesMySQL, nil},
	{"tcp", "an exchange of lines, 64 connections (bar 1.15 of a bare loop over epoll)", (*bench).tcp, (*bench).takesTCP, nil},
	{"udp", "an exchange of datagrams, 64 sockets (bar 1.2 of a bare loop over epoll)", (*bench).udp, (*bench).takesUDP, nil},
	{"memory", "10,000 and 50,000 virtual users (bar 4)", (*bench).memory, (*bench).takesMemory, []string{"k6"}},
	{"truth", "latencies of a server that stands still (bar 5)", (*bench).truth, (*bench).takesTruth, []string{"k6", "vegeta", "bombardier", "hey"}},
	{"stalls", "latencies of real servers that stand still for 2 s, a protocol each (bar 6 of protocols)", (*bench).stalls, (*bench).takesStalls, nil},
	{"kills", "load while real servers are killed each 20 s for 10 min, all protocols at once: sums, and what the servers kept", (*bench).kills, (*bench).takesKills, nil},
	{"idle", "memory of an executor with 1,000 and 10,000 connections, a protocol each (bar 4 of protocols)", (*bench).idle, (*bench).takesIdle, nil},
	{"outputs", "a fixed rate whose rows go to sinks that are dead, hung, slow and back (bar 4 of outputs)", (*bench).outputs, (*bench).takesOutputs, nil},
	{"lateness", "starts at 5,000 a second beside a bare timer (bar 5)", (*bench).lateness, (*bench).takesLateness, nil},
	{"scaling", "two executors, and 64 to 10,000 virtual users (bar 10)", (*bench).scaling, (*bench).takesScaling, nil},
	{"accounting", "what was sent beside what the target counted, to 10,000 virtual users", (*bench).accounting, (*bench).takesAccounting, nil},
}

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "measure":
		err = wrap(os.Stdin, os.Stdout)
	case len(os.Args) == 3 && os.Args[1] == "serve":
		err = serve(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "loop":
		err = loop(os.Args[2], os.Stdout)
	case len(os.Args) == 3 && os.Args[1] == "timer":
		err = timer(os.Args[2], os.Stdout)
	default:
		err = compare(os.Args[1:])
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// compare runs the experiments that were asked for.
func compare(args []string) error {
	b := &bench{out: os.Stdout}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	only := flags.String("only", "", "experiments, with commas between them; all if not given")
	flags.StringVar(&b.binary, "binary", "../../bin/hyperscale", "the program that is compared")
	flags.StringVar(&b.cache, "cache", "../../out/peers", "where peers are built and results are kept")
	flags.IntVar(&b.rounds, "rounds", 5, "how often each client runs; the best one counts")
	flags.DurationVar(&b.duration, "duration", 10*time.Second, "of each run")
	flags.BoolVar(&b.quick, "quick", false, "runs of 2 s, two rounds: to try it, not to believe it")
	flags.BoolVar(&b.alone, "alone", false, "without peers: for whoever works on the program")
	flags.StringVar(&b.protocol, "protocol", "", "of stalls, kills and idle; each if not given")
	strict := flags.Bool("strict", false, "fail if a bar is missed or could not be measured")
	flags.Usage = func() {
		_, _ = fmt.Fprintln(flags.Output(), "Runs hyperscale beside other load generators. Experiments:")
		for _, e := range experiments {
			_, _ = fmt.Fprintf(flags.Output(), "  %-10s %s\n", e.name, e.about)
		}
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if b.quick {
		b.rounds, b.duration = 2, 2*time.Second
	}
	if b.rounds < 1 || b.duration < time.Second {
		return errors.New("-rounds must be 1 or more, -duration 1s or more")
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if err := b.prepare(chosen); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }() // scratch
	b.begin(chosen)
	defer b.how.line.Clear()
	for _, e := range chosen {
		b.next()
		_, _ = fmt.Fprintf(b.out, "\n%s: %s\n", e.name, e.about)
		b.report.Experiments = append(b.report.Experiments, e.name)
		if err := e.run(b); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return b.conclude(*strict)
}

// choose finds experiments by name.
func choose(only string) ([]experiment, error) {
	if only == "" {
		return experiments, nil
	}
	var chosen []experiment
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(experiments, func(e experiment) bool { return e.name == name })
		if i < 0 {
			var names []string
			for _, e := range experiments {
				names = append(names, e.name)
			}
			return nil, fmt.Errorf("no experiment is called %q: there are %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, experiments[i])
	}
	return chosen, nil
}

// prepare finds processors, the program and its peers.
func (b *bench) prepare(chosen []experiment) error {
	var err error
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	if b.cache, err = filepath.Abs(b.cache); err != nil {
		return err
	}
	if _, err := os.Stat(b.binary); err != nil {
		return fmt.Errorf("-binary: %w: run `make bin/hyperscale`", err)
	}
	cpus, err := usable()
	if err != nil {
		return err
	}
	if len(cpus) < 2 {
		return errors.New("two processors are needed, one for clients and one for servers")
	}
	b.clientCPUs, b.serverCPUs = cpus[:1], cpus[1:2]
	if !b.alone {
		if b.tools, err = tools(b.cache, b.out, func(name string) bool {
			return slices.ContainsFunc(chosen, func(e experiment) bool { return slices.Contains(e.peers, name) })
		}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.cache, "run-"); err != nil {
		return err
	}
	b.report.begin(b)
	return nil
}

// conclude writes what machines read, and judges if that is asked for.
func (b *bench) conclude(strict bool) error {
	b.report.LoadAfter = loadAverage()
	b.report.summary(b.out)
	line, err := json.Marshal(b.report)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(b.out, "\n%s\n", line)
	path := filepath.Join(b.cache, "result.json")
	if err := os.WriteFile(path, append(line, '\n'), 0o644); err != nil {
		return err
	}
	if strict {
		for _, v := range b.report.Verdicts {
			if v.State != met {
				return fmt.Errorf("bar %s: %s: %s", v.Bar, v.What, v.State)
			}
		}
	}
	return nil
}
