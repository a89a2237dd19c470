package operate

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"go.starlark.net/starlark"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
	"hyperscale/runtime/resolve"
)

// PingProtocols are the protocols of ping.
func PingProtocols() []string {
	return []string{"amqp", "ftp", "grpc", "http", "http2", "http3", "kafka", "mongodb", "mqtt", "mysql", "nats", "postgres", "redis", "scp", "sftp", "smtp", "sse", "tcp", "udp", "websocket"}
}

type pingFlags struct {
	method     string
	headers    []string
	body       string
	hex        string // the same, in digits
	timeout    time.Duration
	serverName string
	address    string
	servers    []string
	lookup     bool
	json       bool
	user       string
	password   string // the file that has it
	mechanism  string // of SASL
	key        string // the file that has it
	hostKeys   string // the same of known_hosts

	secureFlags
	descriptors string // the file that gets them; empty: they are not wanted
}

// secureFlags are those of TLS alone.
type secureFlags struct {
	insecure    bool
	first       bool   // it begins before the INFO of NATS
	certificate string // the file that has the client's; empty: it shows none
}

const pingLong = `Sends one request and shows every phase of it: the name's lookup, each address
tried, the TLS handshake and its certificates, sending, waiting, receiving.

PROTO is amqp, ftp, grpc, http (HTTP/1.1), http2, http3, kafka, mongodb, mqtt, mysql, nats, postgres, redis, scp, sftp, smtp, sse, tcp,
udp or websocket. grpc asks the
health service of a grpc:// or grpcs:// URL, and the server's reflection if it has none; with
--descriptors it writes what reflection tells, for grpc.descriptors of a workflow. http2 without TLS
begins with prior knowledge; http3 makes a handshake of QUIC over UDP, shows the session that a second
one takes up, and whether it would take early data; sse waits for the first server-sent event, over HTTP/1.1; websocket
upgrades a ws:// or wss:// URL and waits for the answer to a ping. A header Sec-WebSocket-Protocol
has the protocols to offer. redis greets a redis:// or rediss:// URL and times a PING,
and so do nats, a nats:// or tls:// URL, and mqtt, an mqtt:// or mqtts:// URL. amqp greets an amqp:// or
amqps:// URL; kafka greets a broker of a kafka:// or kafkas:// URL, by --mechanism, and times Metadata;
sftp greets an sftp:// URL and times REALPATH, scp the same URL and a command that does nothing: by
--key-file or a password, and with the keys of --host-keys, or any with --insecure;
mongodb greets a mongodb:// URL, which may have ?tls=true, and times a ping; of a mongodb+srv:// URL it greets the
servers of the SRV records in turn, until one serves. nats begins TLS before the server's INFO with --first.
--certificate-file and --key-file have the client's certificate for TLS; it proves the user of a mongodb URL with
authMechanism=MONGODB-X509.
mysql and postgres greet their URL, which may have ?sslmode=, and time select 1. smtp greets an
smtp:// or smtps:// URL and times NOOP; with --user it begins TLS, and --mechanism proves the user. ftp does so for an
ftp:// or ftps:// URL. Their password stands in the file of --password-file, or in HYPERSCALE_PASSWORD. tcp connects to
a tcp:// or tcps:// URL, sends --body and shows what comes within 250 ms. udp sends --body, or
the bytes of --hex, as one datagram to a udp:// URL, and waits for one that answers it.
Exit codes: 0 an answer with a status below 400, as a load test counts it; 1 any
other outcome; 2 bad usage.`

// NewPingCommand sends one request and prints its phases.
func NewPingCommand() *cobra.Command {
	var f pingFlags
	cmd := &cobra.Command{
		Use:   "ping PROTO URL",
		Short: "send one request and show where its time goes",
		Long:  pingLong,
		Example: `  hyperscale ping http https://example.org/
  hyperscale ping http2 https://example.org/ --address 192.0.2.1 --json
  hyperscale ping http3 https://example.org/
  hyperscale ping grpc grpcs://shop.example.org --descriptors shop.binpb
  hyperscale ping sse https://example.org/events
  hyperscale ping websocket wss://example.org/chat --header 'Sec-WebSocket-Protocol: v1'
  hyperscale ping redis rediss://cache.example.org --user app --password-file redis.password
  hyperscale ping postgres 'postgres://app@db.example.org/shop?sslmode=require'
  hyperscale ping mysql mysql://app@127.0.0.1/shop
  hyperscale ping kafka kafkas://broker.example.org --user app --password-file kafka.password
  hyperscale ping mongodb 'mongodb://db.example.org/?tls=true' --user app --password-file mongodb.password
  hyperscale ping mongodb 'mongodb+srv://cluster.example.org/?authMechanism=MONGODB-X509' --certificate-file client.pem --key-file client.key
  hyperscale ping amqp amqps://rabbit.example.org/shop --user app --password-file amqp.password
  hyperscale ping sftp sftp://app@files.example.org --key-file id --host-keys known_hosts
  hyperscale ping smtp smtp://mail.example.org:587 --user app --password-file mail.password
  hyperscale ping nats tls://nats.example.org --password-file user.creds
  hyperscale ping mqtt mqtts://broker.example.org --user app --password-file mqtt.password
  hyperscale ping tcp tcp://192.0.2.1:11211 --body $'version\r\n'
  hyperscale ping udp udp://192.0.2.53:53 --hex 00010100000100000000000002636800000100010000
  hyperscale ping http https://example.org/ --lookup --dns 1.1.1.1`,
		Args: command.Exactly("PROTO", "URL"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.method, "method", "", "`METHOD` to use, if not GET, or POST where there is a body")
	flags.StringArrayVar(&f.headers, "header", nil, "`'Name: value'` to send (repeatable)")
	flags.StringVar(&f.body, "body", "", "`text` to send")
	flags.StringVar(&f.hex, "hex", "", "`DIGITS` of the bytes to send over tcp or udp, instead of --body")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Second, "for all of it together")
	flags.BoolVar(&f.insecure, "insecure", false, "go on where the certificate is not to be trusted")
	flags.StringVar(&f.serverName, "server-name", "", "`name` that the certificate must be for, instead of the URL's host")
	flags.StringVar(&f.address, "address", "", "`ADDR` to connect to, whatever the URL's host is")
	flags.StringArrayVar(&f.servers, "dns", nil, "`ADDR` of a DNS server, instead of the machine's (repeatable)")
	flags.StringVar(&f.user, "user", "", "`NAME` that redis, mqtt, nats, kafka, mongodb, amqp, smtp, ftp, sftp, scp, mysql or postgres authenticates")
	flags.StringVar(&f.key, "key-file", "", "`FILE` with the private key for sftp or scp, or with that of --certificate-file")
	flags.StringVar(&f.certificate, "certificate-file", "", "`FILE` with the client's certificate for TLS, in PEM")
	flags.BoolVar(&f.first, "first", false, "begin TLS before the server's INFO, as handshake_first of a nats-server wants it")
	flags.StringVar(&f.hostKeys, "host-keys", "", "`FILE` of known_hosts for sftp or scp")
	flags.StringVar(&f.password, "password-file", "", "`FILE` with the password for redis, mqtt, nats, kafka, mongodb, amqp, ftp, sftp, scp, smtp, mysql or postgres, instead of HYPERSCALE_PASSWORD; for nats without --user a token, a seed or credentials")
	flags.StringVar(&f.mechanism, "mechanism", "", "`NAME` of SASL for kafka: plain, scram-sha-256 (without it, where there is a user), scram-sha-512 or oauthbearer, whose token --password-file has; for smtp: plain (without it), login, cram-md5 or xoauth2")
	flags.StringVar(&f.descriptors, "descriptors", "", "`FILE` that gets the descriptors of a gRPC server")
	flags.BoolVar(&f.lookup, "lookup", false, "look the name up and send nothing")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *pingFlags) run(cmd *cobra.Command, proto, target string) error {
	if proto == "custom" {
		return command.Usage("a custom program has no address to ping: `%s validate FILE --allow-custom` starts it and plays one call", command.Called())
	}
	if !slices.Contains(PingProtocols(), proto) {
		return command.Usage("%q is no protocol that ping speaks%s: choose %s", proto, command.DidYouMean(proto, PingProtocols()), strings.Join(PingProtocols(), " or "))
	}
	address, greets, err := f.addressOf(proto, target)
	if err != nil {
		return err
	}
	cfg, host, err := f.config(address)
	if err != nil {
		return err
	}
	if proto == "websocket" {
		if err := f.upgrades(&cfg); err != nil {
			return err
		}
	}
	if greets != nil {
		greets(&cfg)
	}
	if err := f.certifies(&cfg); err != nil {
		return err
	}
	cfg.HTTP, cfg.Events = map[string]ping.Version{"http2": ping.HTTP2, "grpc": ping.HTTP2, "http3": ping.HTTP3}[proto], proto == "sse"
	if proto == "grpc" {
		cfg.GRPC = &ping.Called{Descriptors: f.descriptors != ""}
	}
	if proto == "tcp" || proto == "udp" {
		cfg.Raw = &ping.Said{Data: cfg.Request.Body, UDP: proto == "udp"}
	}
	if cfg.Events && !slices.ContainsFunc(cfg.Request.Headers, func(h http1.Pair) bool { return strings.EqualFold(h.Name, "Accept") }) {
		cfg.Request.Headers = append(cfg.Request.Headers, http1.Pair{Name: "Accept", Value: "text/event-stream"})
	}
	if f.lookup {
		return f.runLookup(cmd, cfg, host)
	}
	report, err := ping.Run(cmd.Context(), cfg)
	if err != nil {
		return command.AsUsage(err)
	}
	if s := report.Service; s != nil && f.descriptors != "" {
		if err := os.WriteFile(f.descriptors, s.Descriptors, 0o644); err != nil {
			return fmt.Errorf("--descriptors: %w", err)
		}
	}
	if f.json {
		err = command.PrintJSON(cmd.OutOrStdout(), report)
	} else {
		err = report.Print(cmd.OutOrStdout(), columns())
	}
	switch {
	case err != nil:
		return err
	case report.Kind == string(http1.KindCancelled):
		return command.Exit(command.ExitInterrupted, nil)
	case !report.OK():
		return command.Exit(command.ExitFailed, nil)
	}
	return nil
}

// addressOf returns a target's address as a URL of HTTP, and how it is greeted; nil: as HTTP, TCP or UDP.
func (f *pingFlags) addressOf(proto, target string) (address string, greets func(*ping.Config), err error) {
	if f.hex != "" && proto != "tcp" && proto != "udp" {
		return "", nil, command.Usage("--hex is for tcp and udp: write --body TEXT")
	}
	if !slices.Contains([]string{"redis", "mqtt", "nats", "kafka", "mongodb", "amqp", "ftp", "sftp", "scp", "smtp", "mysql", "postgres"}, proto) && (f.user != "" || f.password != "") {
		return "", nil, command.Usage("--user and --password-file are for redis, mqtt, nats, kafka, mongodb, amqp, ftp, sftp, scp, smtp, mysql and postgres: write --header 'Authorization: ...'")
	}
	if proto != "kafka" && proto != "smtp" && f.mechanism != "" {
		return "", nil, command.Usage("--mechanism is for kafka and smtp: leave it out")
	}
	if err := f.keyed(proto); err != nil {
		return "", nil, err
	}
	if proto != "nats" && f.first {
		return "", nil, command.Usage("--first is for nats: leave it out")
	}
	if proto != "grpc" && f.descriptors != "" {
		return "", nil, command.Usage("--descriptors is for grpc: leave it out")
	}
	switch proto {
	case "grpc":
		address, err = f.grpc(target)
		return address, nil, err
	case "redis":
		return f.redis(target)
	case "kafka":
		return f.kafka(target)
	case "mongodb":
		return f.mongoDB(target)
	case "nats":
		return f.nats(target)
	case "mqtt":
		return f.mqtt(target)
	case "amqp":
		return f.amqp(target)
	case "sftp", "scp":
		return f.ssh(proto, target)
	case "smtp":
		return f.smtp(target)
	case "ftp":
		return f.ftp(target)
	case "postgres":
		return f.postgres(target)
	case "mysql":
		return f.mysql(target)
	case "websocket":
		address, err = websocket.Address(target)
		return address, nil, command.AsUsage(err)
	case "tcp", "udp":
		address, err = f.bytes(proto, target)
		return address, nil, err
	}
	return target, nil, nil
}

// keyed checks that the files of keys are of this protocol.
func (f *pingFlags) keyed(proto string) error {
	ssh := proto == "sftp" || proto == "scp"
	switch {
	case ssh && f.certificate != "":
		return command.Usage("--certificate-file is of TLS, and %s has none: leave it out", proto)
	case !ssh && f.hostKeys != "":
		return command.Usage("--host-keys is for sftp and scp: leave it out")
	case !ssh && f.key != "" && f.certificate == "":
		return command.Usage("--key-file is for sftp and scp, and of --certificate-file: leave it out, or write --certificate-file FILE")
	}
	return nil
}

// bytes reads what goes out over TCP or UDP, and returns where to.
func (f *pingFlags) bytes(proto, target string) (address string, err error) {
	if f.method != "" || len(f.headers) > 0 {
		return "", command.Usage("%s has neither a method nor headers: leave out --method and --header", proto)
	}
	schemes := request.TCPSchemes()
	if proto == "udp" {
		schemes = request.UDPSchemes()
	}
	at, err := schemes.Read("ping "+proto, starlark.String(target))
	if err != nil {
		return "", command.AsUsage(err)
	}
	if f.hex != "" {
		b, err := hex.DecodeString(f.hex)
		switch {
		case f.body != "":
			return "", command.Usage("--body and --hex both say what to send: leave one out")
		case err != nil:
			return "", command.Usage("--hex %q: %v: write two digits a byte, such as --hex 00ff", f.hex, err)
		}
		f.body = string(b)
	}
	if n := len(f.body); proto == "udp" && (n == 0 || n > datagram.SizeMax) {
		return "", command.Usage("a datagram of %d bytes cannot be sent: write --body TEXT or --hex DIGITS, of 1 to %d bytes", n, datagram.SizeMax)
	}
	scheme := "http://"
	if at.Secure {
		scheme = "https://"
	}
	_, rest, _ := strings.Cut(at.URL(), "://")
	return scheme + rest, nil
}

// grpc returns the address of a gRPC server as HTTP would write it.
func (f *pingFlags) grpc(target string) (string, error) {
	if f.method != "" || f.body != "" {
		return "", command.Usage("ping grpc calls the health service: leave out --method and --body")
	}
	at, err := request.GRPCSchemes().Read("ping grpc", starlark.String(target))
	if err != nil {
		return "", command.AsUsage(err)
	}
	return "http" + strings.TrimPrefix(at.URL(), "grpc") + "/", nil
}

// upgrades takes the protocols to offer out of the headers.
func (f *pingFlags) upgrades(cfg *ping.Config) error {
	if f.body != "" || f.method != "" && f.method != "GET" {
		return command.Usage("an upgrade to WebSocket is a GET without a body: leave out --method and --body")
	}
	cfg.WebSocket = &ping.Offer{}
	all := cfg.Request.Headers
	cfg.Request.Headers = nil
	for _, h := range all {
		switch {
		case strings.EqualFold(h.Name, "Sec-WebSocket-Protocol"):
			for name := range strings.SplitSeq(h.Value, ",") {
				cfg.WebSocket.Protocols = append(cfg.WebSocket.Protocols, strings.TrimSpace(name))
			}
		case websocket.Reserved(h.Name):
			return command.Usage("--header %q: the upgrade sets %s itself: take it out", h.Name, h.Name)
		default:
			cfg.Request.Headers = append(cfg.Request.Headers, h)
		}
	}
	cfg.Request.ContentType = ""
	if _, err := websocket.New(websocket.Config{Protocols: cfg.WebSocket.Protocols}); err != nil {
		return command.AsUsage(err)
	}
	return nil
}

// config converts the flags.
func (f *pingFlags) config(target string) (cfg ping.Config, host string, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return cfg, "", command.Usage("%q is no address: write it like https://example.org/path", target)
	}
	if f.timeout <= 0 {
		return cfg, "", command.Usage("--timeout %v is no time at all: write --timeout 10s", f.timeout)
	}
	method := f.method
	if method == "" {
		method = "GET"
		if f.body != "" {
			method = "POST"
		}
	}
	cfg = ping.Config{
		Request: http1.Request{Method: method, URL: target, Body: []byte(f.body), ContentType: "text/plain; charset=utf-8"},
		Timeout: f.timeout, Insecure: f.insecure, ServerName: f.serverName, Resolver: resolve.NewResolver(),
	}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return cfg, "", command.Usage("--header %q has no colon: write --header 'Name: value'", h)
		}
		cfg.Request.Headers = append(cfg.Request.Headers, http1.Pair{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if f.address != "" {
		if cfg.Address, err = netip.ParseAddr(f.address); err != nil {
			return cfg, "", command.Usage("--address %q is no address: write one such as 192.0.2.1, without a port", f.address)
		}
	}
	if len(f.servers) > 0 {
		cfg.Resolver.Config.Servers = nil
	}
	for _, s := range f.servers {
		at, err := netip.ParseAddrPort(s)
		if a, plain := netip.ParseAddr(s); err != nil && plain == nil {
			at, err = netip.AddrPortFrom(a, 53), nil
		}
		if err != nil {
			return cfg, "", command.Usage("--dns %q is no address: write one such as 192.0.2.53 or 192.0.2.53:5353", s)
		}
		cfg.Resolver.Config.Servers = append(cfg.Resolver.Config.Servers, at)
	}
	return cfg, u.Hostname(), nil
}

func (f *pingFlags) runLookup(cmd *cobra.Command, cfg ping.Config, host string) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), cfg.Timeout)
	defer cancel()
	var found interface{ Print(io.Writer) error }
	kind := ""
	if cfg.Service != "" {
		cluster := ping.LookupCluster(ctx, cfg.Resolver, cfg.Service, host)
		found, kind = cluster, cluster.Kind
	} else {
		names := ping.Lookup(ctx, cfg.Resolver, host)
		found, kind = names, names.Kind
	}
	var err error
	if f.json {
		err = command.PrintJSON(cmd.OutOrStdout(), found)
	} else {
		err = found.Print(cmd.OutOrStdout())
	}
	if err == nil && kind != "" {
		err = command.Exit(command.ExitFailed, nil)
	}
	return err
}

// columns is the width of the terminal, or 100 without one.
func columns() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return width
	}
	return 100
}
