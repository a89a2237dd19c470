package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	"google.golang.org/grpc"

	wire "hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/schema"
	"hyperscale/runtime/engine"
	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/resolve"
)

// startCalling serves in this process.
func startCalling(t *testing.T) *calling {
	t.Helper()
	s, err := newCalling(serverConfig{Listen: "127.0.0.1:0"}, &counter{base: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.serve() }()
	t.Cleanup(s.server.Stop)
	return s
}

// calls runs a workflow of one step against a server of grpc-go.
func calls(t *testing.T, ctx context.Context, s *calling, vus, iterations uint64, more, call string) wire.StepStats {
	t.Helper()
	proto, err := os.ReadFile("../../examples/shop.proto")
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("shop = grpc.client(\"grpc://%s\", schema = grpc.proto(\"shop.proto\")%s)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", grpc.call(shop, %s))])", s.listener.Addr(), more, iterations, vus, call)
	p, err := workflow.Load(wire.Program{Main: "t.star", Files: []wire.File{{Name: "t.star", Data: []byte(text)}, {Name: "shop.proto", Data: proto}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Run(ctx, engine.Config{Workflow: p.Workflow("test"), VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r.Stats.Steps[0]
}

// What a run counts is what an interceptor of grpc-go counted: calls, messages and statuses.
func TestCallsAgreeWithGRPC(t *testing.T) {
	for _, vus := range []uint64{1, 64, 500} {
		for _, tt := range []struct {
			name, more, call string
			received, sent   uint64 // of a call
			code             int
		}{
			{"unary", "", `"shop.v1.Orders/Get", {"id": "7"}`, 1, 1, 0},
			{"gzip", ", compression = True", `"shop.v1.Orders/Get", {"id": "7"}`, 1, 1, 0},
			{"told", "", `"shop.v1.Orders/Get", {"id": "fail-8"}`, 1, 0, 8},
			{"server streams", "", `"shop.v1.Orders/Watch", {"id": "7"}`, 1, 3, 0},
			{"client streams", "", `"shop.v1.Orders/Upload", messages = [{"id": "a"}, {"id": "b"}]`, 2, 1, 0},
		} {
			if vus == 500 && tt.name != "unary" {
				continue
			}
			t.Run(fmt.Sprint(tt.name, "/", vus), func(t *testing.T) {
				s, n := startCalling(t), 4*vus
				got := calls(t, context.Background(), s, vus, n, tt.more, tt.call)
				bad := uint64(0)
				if tt.code != 0 {
					bad = n
				}
				if got.OK != n-bad || got.Failed != bad || got.Sent != n {
					t.Fatalf("ok %d, failed %d of %d, sent %d: %v", got.OK, got.Failed, got.Started, got.Sent, got.Errors)
				}
				if tt.code != 0 && (len(got.Errors) != 1 || got.Errors[0].Kind != "server RESOURCE_EXHAUSTED") {
					t.Errorf("got %v", got.Errors)
				}
				s.server.GracefulStop()
				if s.counter.requests.Load() != n || s.received.Load() != n*tt.received || s.sent.Load() != n*tt.sent || s.statuses[tt.code].Load() != n {
					t.Errorf("the server counts %d calls, %d messages in, %d out, %d of status %d; want %d calls", s.counter.requests.Load(), s.received.Load(), s.sent.Load(), s.statuses[tt.code].Load(), tt.code, n)
				}
			})
		}
	}
}

// However a run ends, what it sent is what the server got.
func TestCallsThatBreakAgreeWithGRPC(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		s := startCalling(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			for s.counter.requests.Load() < 100 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		got := calls(t, ctx, s, 16, 1_000_000, "", `"shop.v1.Orders/Get", {"id": "7"}`)
		s.server.GracefulStop()
		if n := s.counter.requests.Load(); n > got.Sent || n < got.OK || got.Failed > 0 || got.Started != got.OK+got.Cancelled {
			t.Errorf("sent %d, ok %d, cancelled %d of %d, the server counts %d: %v", got.Sent, got.OK, got.Cancelled, got.Started, n, got.Errors)
		}
	})
	t.Run("timed out", func(t *testing.T) {
		s := startCalling(t)
		got := calls(t, context.Background(), s, 4, 8, "", `"shop.v1.Orders/Get", {"id": "slow"}, timeout = "60ms"`)
		// The server may tell that the deadline is over before ours is.
		if got.TimedOut+got.Failed != 8 || got.OK > 0 {
			t.Errorf("%d timed out, %d failed: %v", got.TimedOut, got.Failed, got.Errors)
		}
		s.server.GracefulStop()
		if n := s.counter.requests.Load(); n != got.Sent {
			t.Errorf("sent %d, the server counts %d", got.Sent, n)
		}
	})
	t.Run("GOAWAY in the middle", func(t *testing.T) {
		s := startCalling(t)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			for s.counter.requests.Load() < 200 {
				time.Sleep(time.Millisecond)
			}
			s.server.GracefulStop()
		}()
		got := calls(t, context.Background(), s, 16, 2000, "", `"shop.v1.Orders/Get", {"id": "7"}`)
		<-gone
		if n := s.counter.requests.Load(); got.OK+got.Failed+got.TimedOut != 2000 || got.OK != s.statuses[0].Load() || n > got.Sent {
			t.Errorf("sent %d, ok %d, failed %d, the server counts %d calls, %d ok: %v", got.Sent, got.OK, got.Failed, n, s.statuses[0].Load(), got.Errors)
		}
	})
}

// A ping reads the health and the reflection of grpc-go, and writes descriptors that a file can call by.
func TestPingReadsGRPC(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	healthpb.RegisterHealthServer(s, health.NewServer())
	reflection.Register(s)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	url := "http://" + listener.Addr().String() + "/"
	r, err := ping.Run(context.Background(), ping.Config{Request: http1.Request{Method: "POST", URL: url}, HTTP: ping.HTTP2, GRPC: &ping.Called{Descriptors: true}, Timeout: time.Minute, Resolver: resolve.NewResolver()})
	if err != nil || r.Kind != "" || r.Service.Health != "SERVING" || r.Service.Reflection != "v1" || len(r.Service.Services) != 3 {
		t.Fatalf("got %+v, %+v, %v", r, r.Service, err)
	}
	got, err := schema.Descriptors(r.Service.Descriptors)
	if err != nil || got.Method("grpc.health.v1.Health/Check") == nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// A file that takes its schema of grpc-go's reflection, by either version, calls with it.
func TestFilesReflectGRPC(t *testing.T) {
	for _, version := range []string{"v1", "v1alpha"} {
		t.Run(version, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := grpc.NewServer()
			healthpb.RegisterHealthServer(s, health.NewServer())
			if version == "v1" {
				reflection.RegisterV1(s)
			} else {
				alpha.RegisterServerReflectionServer(s, reflection.NewServer(reflection.ServerOptions{Services: s})) //nolint:staticcheck // servers of today have it
			}
			go func() { _ = s.Serve(listener) }()
			t.Cleanup(s.Stop)
			text := fmt.Sprintf("shop = grpc.client(\"grpc://%s\", schema = grpc.reflect())\nworkflow(name = \"test\", iterations = 8, vus = 2, duration = \"60s\", steps = [step(\"ask\", grpc.call(shop, \"grpc.health.v1.Health/Check\", {}), expect = [json_is(\"$.status\", \"SERVING\")])])", listener.Addr())
			program := wire.Program{Main: "t.star", Files: []wire.File{{Name: "t.star", Data: []byte(text)}}}
			_, err = workflow.Load(program)
			var missing *workflow.Unreflected
			if !errors.As(err, &missing) {
				t.Fatal(err)
			}
			url := "http" + strings.TrimPrefix(missing.Ask.URL, "grpc") + "/"
			r, err := ping.Run(context.Background(), ping.Config{Request: http1.Request{Method: "POST", URL: url}, HTTP: ping.HTTP2, GRPC: &ping.Called{Descriptors: true, Reflection: true}, Timeout: time.Minute, Resolver: resolve.NewResolver()})
			if err != nil || r.Kind != "" || r.Service.Reflection != version {
				t.Fatalf("got %+v, %+v, %v", r, r.Service, err)
			}
			program.Files = append(program.Files, wire.File{Name: missing.Name, Data: r.Service.Descriptors})
			p, err := workflow.Load(program)
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.Run(context.Background(), engine.Config{Workflow: p.Workflow("test"), VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second})
			if err != nil || got.Stats.Steps[0].OK != 8 {
				t.Errorf("ok %d, %v, %v", got.Stats.Steps[0].OK, got.Stats.Steps[0].Errors, err)
			}
		})
	}
}
