package ping

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"hyperscale/core/workflow/schema"
	"hyperscale/runtime/protocol/hostile/grpc/grpctest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/resolve"
)

// inside puts bytes into a field.
func inside(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// reflecting answers as reflection does: services, and files by the symbols and names in them.
func reflecting(t *testing.T, files ...*descriptorpb.FileDescriptorProto) func([]byte) ([]byte, int) {
	return func(m []byte) ([]byte, int) {
		asks, _, n := protowire.ConsumeTag(m)
		about, _ := protowire.ConsumeBytes(m[n:])
		if asks == 7 {
			var all []byte
			for _, f := range files {
				for _, s := range f.Service {
					all = inside(all, 1, inside(nil, 1, []byte(f.GetPackage()+"."+s.GetName())))
				}
			}
			return inside(nil, 6, all), 0
		}
		for _, f := range files {
			if asks == 3 && string(about) == f.GetName() || asks == 4 && len(f.Service) > 0 && string(about) == f.GetPackage()+"."+f.Service[0].GetName() {
				b, err := proto.Marshal(f)
				if err != nil {
					t.Error(err)
				}
				return inside(nil, 4, inside(nil, 1, b)), 0
			}
		}
		return nil, 5
	}
}

func TestGRPC(t *testing.T) {
	item := &descriptorpb.FileDescriptorProto{Name: proto.String("item.proto"), Package: proto.String("shop"), Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Item")}}}
	shop := &descriptorpb.FileDescriptorProto{Name: proto.String("shop.proto"), Package: proto.String("shop"), Syntax: proto.String("proto3"), Dependency: []string{"item.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Orders"), Method: []*descriptorpb.MethodDescriptorProto{{Name: proto.String("Get"), InputType: proto.String(".shop.Item"), OutputType: proto.String(".shop.Item")}}}}}
	const health, v1, alpha = "grpc.health.v1.Health/Check", "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
	serving := func(status byte) func([]byte) ([]byte, int) {
		return func([]byte) ([]byte, int) { return []byte{1 << 3, status}, 0 }
	}
	refuses := func(status int) func([]byte) ([]byte, int) {
		return func([]byte) ([]byte, int) { return nil, status }
	}
	for _, tt := range []struct {
		name   string
		secure bool
		own    map[string]func([]byte) ([]byte, int)
		files  bool
		want   string // of the picture
		kind   string
	}{
		{"health", false, map[string]func([]byte) ([]byte, int){health: serving(1)}, false, "health    SERVING\n", ""},
		{"health over TLS", true, map[string]func([]byte) ([]byte, int){health: serving(2)}, false, "health    NOT_SERVING\n", ""},
		{"reflection", false, map[string]func([]byte) ([]byte, int){v1: reflecting(t, shop, item)}, false, "services  1 by reflection v1\n            shop.Orders\n", ""},
		{"descriptors", false, map[string]func([]byte) ([]byte, int){health: serving(1), alpha: reflecting(t, shop, item)}, true, "services  1 by reflection v1alpha\n", ""},
		{"neither", false, nil, false, "health    no health service\n  services  no reflection\n", ""},
		{"no reflection", false, nil, true, "FAILED    protocol: the server has no reflection", "protocol"},
		{"a failure", false, map[string]func([]byte) ([]byte, int){health: refuses(16)}, false, "FAILED    server UNAUTHENTICATED", "server UNAUTHENTICATED"},
		{"a file that is missing", false, map[string]func([]byte) ([]byte, int){v1: reflecting(t, shop)}, true, "FAILED    server NOT_FOUND", "server NOT_FOUND"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := grpctest.Start(t, tt.secure)
			s.Own = map[string]func([]byte) ([]byte, int){health: refuses(12), v1: refuses(12), alpha: refuses(12)}
			//lint:orderfree a dict has no order either
			for method, answer := range tt.own {
				s.Own[method] = answer
			}
			r, err := Run(context.Background(), Config{Request: http1.Request{Method: "POST", URL: "http" + strings.TrimPrefix(s.URL, "grpc") + "/"}, HTTP: HTTP2, GRPC: &Called{Descriptors: tt.files}, Timeout: 30 * time.Second, Insecure: true, Resolver: resolve.NewResolver()})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := r.Print(&b, 100); err != nil || !strings.Contains(b.String(), tt.want) || r.Kind != tt.kind || r.OK() != (tt.kind == "") {
				t.Errorf("got kind %q, %v\n%s", r.Kind, err, b.String())
			}
			if tt.files && tt.kind == "" {
				got, err := schema.Descriptors(r.Service.Descriptors)
				if err != nil || r.Service.Files != 2 || got.Method("shop.Orders/Get") == nil {
					t.Errorf("%d files, %v, %v", r.Service.Files, got, err)
				}
			}
		})
	}
}

// Bytes of any kind have a status.
func FuzzHealth(f *testing.F) {
	f.Add([]byte{4<<3 | 2, 2, 1<<3 | 2, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if healthOf(b) == "" {
			t.Error("no status")
		}
	})
}
