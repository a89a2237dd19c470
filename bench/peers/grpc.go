package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // what clients may compress by
	"google.golang.org/grpc/status"
)

// bare is a codec of messages that are bytes: nothing is measured but the calls.
type bare struct{}

func (bare) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (bare) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = append((*v.(*[]byte))[:0], b...)
	return nil
}
func (bare) Name() string { return "proto" }

// calling is a server of grpc-go that sends messages back. An interceptor counts.
type calling struct {
	listener net.Listener
	server   *grpc.Server
	counter  *counter
	received atomic.Uint64 // messages
	sent     atomic.Uint64
	statuses [17]atomic.Uint64
}

func newCalling(c serverConfig, n *counter) (*calling, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	s := &calling{listener: listener, counter: n}
	s.server = grpc.NewServer(grpc.ForceServerCodec(bare{}), grpc.UnknownServiceHandler(s.handle), grpc.StreamInterceptor(s.intercept), grpc.MaxConcurrentStreams(1000))
	return s, nil
}

func (s *calling) serve() error { return s.server.Serve(s.listener) }

// counted counts the messages of a call.
type counted struct {
	grpc.ServerStream
	s *calling
}

func (c counted) RecvMsg(m any) error {
	err := c.ServerStream.RecvMsg(m)
	if err == nil {
		c.s.received.Add(1)
	}
	return err
}

func (c counted) SendMsg(m any) error {
	err := c.ServerStream.SendMsg(m)
	if err == nil {
		c.s.sent.Add(1)
	}
	return err
}

func (s *calling) intercept(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	s.counter.requests.Add(1)
	err := handler(srv, counted{stream, s})
	s.statuses[status.Code(err)].Add(1)
	return err
}

// handle serves each method by its last name. An Order whose id is "fail-5" fails with status 5, one with
// "slow" waits for the call's deadline.
func (s *calling) handle(_ any, stream grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(stream)
	var m []byte
	for n := 0; ; n++ {
		err := stream.RecvMsg(&m)
		switch {
		case errors.Is(err, io.EOF) && path.Base(name) == "Upload":
			count := []byte{2 << 3, byte(n)} // the number of an Order
			return stream.SendMsg(&count)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		id := ""
		if len(m) > 2 && m[0] == 1<<3|2 && int(m[1])+2 <= len(m) { // an Order's id
			id = string(m[2 : 2+int(m[1])])
		}
		switch {
		case len(id) > 5 && id[:5] == "fail-":
			code, _ := strconv.Atoi(id[5:])
			return status.Error(codes.Code(code), "no such "+id[5:])
		case id == "slow":
			<-stream.Context().Done()
			return status.FromContextError(stream.Context().Err()).Err()
		}
		switch path.Base(name) {
		case "Get":
			return stream.SendMsg(&m)
		case "Watch":
			for range 3 {
				if err := stream.SendMsg(&m); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// grpcMethod is what the experiment calls.
const grpcMethod = "shop.v1.Orders/Get"

// grpcLoop is a plain loop over grpc-go: a goroutine for each call that is under way. It
// favours the peer: its message is bytes already, as ours is.
func grpcLoop(c loopConfig) (done, failed uint64, err error) {
	var all sync.WaitGroup
	var conn *grpc.ClientConn
	var conns []*grpc.ClientConn
	var ok, bad atomic.Uint64
	until := time.Now().Add(c.Duration)
	order := append([]byte{1<<3 | 2, byte(c.Size)}, make([]byte, c.Size)...)
	for i := range c.Connections * max(c.Streams, 1) {
		if i%max(c.Streams, 1) == 0 {
			conn, err = grpc.NewClient(c.Address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(bare{})))
			if err != nil {
				return 0, 0, err
			}
			conns = append(conns, conn)
		}
		of := conn
		all.Go(func() {
			var answer []byte
			for n := uint64(1); ; n++ {
				if err := of.Invoke(context.Background(), "/"+grpcMethod, &order, &answer); err != nil {
					bad.Add(1)
				} else {
					ok.Add(1)
				}
				if n%64 == 0 && !time.Now().Before(until) {
					return
				}
			}
		})
	}
	all.Wait()
	for _, conn := range conns {
		_ = conn.Close() // nothing is under way
	}
	return ok.Load(), bad.Load(), nil
}

// ghz makes a contender of ghz, which reads the same .proto file.
func (b *bench) ghz(s *server, proto, message string, connections, streams int) contender {
	t := b.tools["ghz"]
	c := contender{name: "ghz", missing: t.Missing, read: readGhz}
	if t.Path == "" {
		return c
	}
	c.command = command{Limit: 2*b.duration + time.Minute, Args: []string{
		t.Path, "--insecure", "--proto", proto, "--call", "shop.v1.Orders.Get", "-d", message, "-c", strconv.Itoa(connections * streams), "--connections", strconv.Itoa(connections), "-z", b.duration.String(), "--format", "json", s.Address,
	}}
	return c
}

// readGhz reads ghz's JSON.
func readGhz(out []byte) (told, error) {
	var r struct {
		Count   uint64            `json:"count"`
		Average time.Duration     `json:"average"`
		Errors  map[string]uint64 `json:"errorDistribution"`
	}
	if err := json.Unmarshal(out, &r); err != nil || r.Count == 0 {
		return told{}, fmt.Errorf("ghz told %d calls: %w", r.Count, err)
	}
	t := told{Requests: r.Count, Latency: map[string]time.Duration{"mean": r.Average}}
	for _, n := range r.Errors { // of calls that ghz cut at the end, too
		t.Failed += n
		t.Requests -= n
	}
	return t, nil
}

const (
	grpcConnections = 64
	grpcSize        = 40 // bytes of the id
)

// grpc compares 64 unary calls at once, on as many connections and on 8.
func (b *bench) grpc() error {
	s, err := startServer(serverConfig{Kind: "grpc"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	proto, err := os.ReadFile(filepath.Join(b.dir, "../../../examples/shop.proto"))
	if err != nil {
		return err
	}
	at := filepath.Join(b.dir, "shop.proto")
	if err := os.WriteFile(at, proto, 0o644); err != nil {
		return err
	}
	message := fmt.Sprintf("{\"id\": \"%040d\"}", 7)
	step := fmt.Sprintf("step(\"get\", grpc.call(grpc.client(\"grpc://%s\", schema = grpc.proto(\"shop.proto\")), %q, %s))", s.Address, grpcMethod, message)
	for _, of := range []struct {
		scene, more          string
		connections, streams int
		bar                  float64 // of ghz's cost
	}{
		{"64 connections, one call at a time on each", "", grpcConnections, 1, 0.15},
		{"8 connections, 8 calls at a time on each", "connections = 8, http = http.client(version = \"2\", streams = 8), ", grpcConnections / 8, 8, 0.15},
	} {
		us, err := b.ours("grpc", 1, flow{Name: "grpc", Step: step, VUs: grpcConnections, Duration: b.duration, More: of.more})
		if err != nil {
			return err
		}
		peer, err := loopContender(loopConfig{Name: "grpc-go", Address: s.Address, Connections: of.connections, Streams: of.streams, Size: grpcSize, Duration: b.duration})
		if err != nil {
			return err
		}
		rows := b.cost("grpc", of.scene, s, []contender{us, peer, b.ghz(s, at, message, of.connections, of.streams)})
		b.bars("0.15", rows, rival{"ghz", 1 / of.bar})
	}
	return nil
}

func (b *bench) takesGRPC() time.Duration { return b.turns(6*b.rounds, b.duration) }
