package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"hyperscale/core/workflow"
	"hyperscale/runtime/engine"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/grpc/grpctest"
)

// echoes returns the descriptors of grpctest's service, by the service and by the names of its files. More is added
// to each as what no reader knows.
func echoes(t *testing.T, more int) map[string][]byte {
	t.Helper()
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{Accessor: func(name string) (io.ReadCloser, error) {
		text := map[string]string{"echo.proto": grpctest.Proto, "parts/item.proto": grpctest.Item}[name]
		return io.NopCloser(strings.NewReader(text)), nil
	}}}
	all, err := c.Compile(context.Background(), "echo.proto", "parts/item.proto")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range all {
		b, err := proto.Marshal(protodesc.ToFileDescriptorProto(f))
		if err != nil {
			t.Fatal(err)
		}
		out[f.Path()] = protowire.AppendBytes(protowire.AppendTag(b, 1000, protowire.BytesType), make([]byte, more))
	}
	out["test.v1.Echo"] = out["echo.proto"]
	return out
}

// reflects makes a server tell its descriptors by one version of reflection, and list more services beside.
func reflects(s *grpctest.Server, version string, files map[string][]byte, list ...string) {
	inside := func(b []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	s.Own = map[string]func([]byte) ([]byte, int){}
	for _, v := range []string{"v1", "v1alpha"} {
		s.Own["grpc.reflection."+v+".ServerReflection/ServerReflectionInfo"] = func(m []byte) ([]byte, int) {
			field, _, n := protowire.ConsumeTag(m)
			about, _ := protowire.ConsumeBytes(m[n:])
			switch {
			case v != version:
				return nil, 12
			case field == 7:
				var all []byte
				for _, name := range append([]string{"test.v1.Echo"}, list...) {
					all = inside(all, 1, inside(nil, 1, []byte(name)))
				}
				return inside(nil, 6, all), 0
			case files[string(about)] == nil:
				return inside(nil, 7, inside(nil, 2, []byte("unknown "+string(about)))), 0
			}
			return inside(nil, 4, inside(nil, 1, files[string(about)])), 0
		}
	}
}

// TestReflection: what a server tells is a file of the program, with which any process loads it without the
// server, and calls.
func TestReflection(t *testing.T) {
	_, _, ca := authority.Files()
	for _, tt := range []struct {
		name, version string
		secure        bool
		arguments     string
		more          int
		list          []string
		want          string // of the error; empty: it runs
	}{
		{name: "v1", version: "v1"},
		{name: "v1alpha", version: "v1alpha"},
		{name: "a service", version: "v1", arguments: `services = ["test.v1.Echo"]`, list: []string{"test.v1.Gone"}},
		{name: "TLS and a secret", version: "v1", secure: true, arguments: `tls = tls(ca = file("ca.pem")), metadata = {"authorization": "Bearer " + secret("token")}`},
		{name: "TLS unverified", version: "v1", secure: true, arguments: `tls = tls(verify = False)`},
		{name: "TLS refused", version: "v1", secure: true, want: "write grpc.reflect(tls = tls(ca = file("},
		{name: "none", version: "none", want: "protocol: the server has no reflection"},
		{name: "a service that is not there", version: "v1", arguments: `services = ["test.v1.Gone"]`, want: "reflection has no answer about test.v1.Gone: unknown test.v1.Gone"},
		{name: "too large", version: "v1", more: 300 << 10, want: "grpc.reflect(services = "},
		{name: "no secret", version: "v1", arguments: `metadata = {"authorization": secret("other")}`, want: `secret "other" has no value`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := grpctest.Start(t, tt.secure)
			reflects(s, tt.version, echoes(t, tt.more), tt.list...)
			folder := t.TempDir()
			text := fmt.Sprintf("shop = grpc.client(%q, schema = grpc.reflect(%s))\n", s.URL, tt.arguments) +
				`workflow(name = "w", vus = 1, iterations = 3, duration = "60s", http = http.client(tls = tls(verify = False)), steps = [step("get", grpc.call(shop, "test.v1.Echo/Get", {"id": "7", "n": 5}), expect = [json_is("$.id", "7")])])`
			//lint:orderfree each is a file
			for name, b := range map[string][]byte{"main.star": []byte(text), "ca.pem": ca, "secrets": []byte("token=hunter2\n")} {
				if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			flags := Flags{seed: 1, secrets: secretFlags{file: filepath.Join(folder, "secrets")}}
			program, _, err := Read(filepath.Join(folder, "main.star"), &flags, io.Discard)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
					t.Fatalf("got %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if head := s.Count().Head.Get("Authorization"); strings.Contains(tt.arguments, "secret") != (head == "Bearer hunter2") {
				t.Errorf("the server was asked with %q", head)
			}
			asked := s.Count().Calls
			p, err := workflow.Load(program)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Reveal(program.Secrets); err != nil && !strings.Contains(tt.arguments, "secret") {
				t.Fatal(err)
			}
			if s.Count().Calls != asked || bytes.Contains(program.Files[len(program.Files)-1].Data, []byte("hunter2")) {
				t.Error("an executor asks again, or the file has a secret")
			}
			r, err := engine.Run(context.Background(), engine.Config{Workflow: p.Workflow("w"), VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
			if err != nil || r.Stats.Steps[0].OK != 3 || s.Count().Paths["/test.v1.Echo/Get"] != 3 {
				t.Errorf("%v, ok %d, %v, the server counts %v", err, r.Stats.Steps[0].OK, r.Stats.Steps[0].Errors, s.Count().Paths)
			}
		})
	}
}

// TestReflectionIsUnreachable: the error says where the client stands, and what to do.
func TestReflectionIsUnreachable(t *testing.T) {
	s := grpctest.Start(t, false)
	s.Stop()
	name := filepath.Join(t.TempDir(), "main.star")
	if err := os.WriteFile(name, fmt.Appendf(nil, "x = 1\nshop = grpc.client(%q, schema = grpc.reflect(timeout = \"2s\"))\n", s.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := Read(name, &Flags{seed: 1}, io.Discard)
	for _, want := range []string{"main.star:2:", "grpc.client: re", ": connect: ", "start the server, or take grpc.descriptors"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
