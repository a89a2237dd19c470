package workflow_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
)

// shopFolder has a program whose .proto file imports others, from several folders.
func shopFolder(text string) folder {
	return folder{
		"main.star": `shop = grpc.client("grpc://h", schema = grpc.proto("api/shop.proto", imports = ["vendor"]))` + "\n" + text,
		"api/shop.proto": `syntax = "proto3"; package shop; import "item.proto"; import "vendored.proto"; import "google/protobuf/timestamp.proto";
			service Orders { rpc Get(Item) returns (Item); rpc Upload(stream Item) returns (Item); }`,
		"api/item.proto":        `syntax = "proto3"; package shop; import "shared/kind.proto"; message Item { string id = 1; int32 n = 2; Kind kind = 3; }`,
		"shared/kind.proto":     `syntax = "proto3"; package shop; enum Kind { NONE = 0; SMALL = 1; }`,
		"vendor/vendored.proto": `syntax = "proto3"; package shop; message Vendored {}`,
		"vendor/unused.proto":   `syntax = "proto3";`,
	}
}

func loadFolder(f folder) (*workflow.Program, []message.File, error) {
	files, _, err := collect.Files("main.star", f)
	if err != nil {
		return nil, nil, err
	}
	p, err := workflow.Load(message.Program{Main: "main.star", Files: files})
	return p, files, err
}

// What a .proto file imports travels with the program, and nothing else does.
func TestProtoFilesTravel(t *testing.T) {
	p, files, err := loadFolder(shopFolder(`workflow(name = "w", vus = 1, duration = "1s", steps = [step("get", grpc.call(shop, "shop.Orders/Get", {"id": "7", "kind": "SMALL"}))])`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if want := []string{"main.star", "api/shop.proto", "api/item.proto", "vendor/vendored.proto", "shared/kind.proto"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	r := p.Workflow("w").Steps[0].Request
	if r.URL != "grpc://h:443/shop.Orders/Get" || string(r.Body) != `[{"id":"7","kind":"SMALL"}]` || p.Plan().Workflows[0].Steps[0].Protocol != "grpc" {
		t.Errorf("got %s %s", r.URL, r.Body)
	}
	lost := shopFolder("")
	delete(lost, "api/item.proto")
	if _, _, err = loadFolder(lost); err == nil || !strings.Contains(err.Error(), "there is no file item.proto, which api/shop.proto imports") {
		t.Errorf("got %v", err)
	}
	large := shopFolder("")
	large["api/item.proto"] += "//" + strings.Repeat("x", 600<<10)
	if _, _, err = loadFolder(large); err == nil || !strings.Contains(err.Error(), "larger than 512 KiB") {
		t.Errorf("got %v", err)
	}
	_, _, err = loadFolder(folder{"main.star": `grpc.proto("none.proto")`})
	if err == nil || strings.Contains(err.Error(), fs.ErrNotExist.Error()) {
		t.Errorf("got %v", err)
	}
}

// A call that its method does not take ends the load, with the place and what to write.
func TestWrongCalls(t *testing.T) {
	//lint:orderfree each is a load of its own
	for call, want := range map[string]string{
		`"shop.Orders/Gett", {}`:                                  `api/shop.proto has no method "shop.Orders/Gett"`,
		`"shop.Orders.Get", {}`:                                   `write "shop.Orders/Get"`,
		`7, {}`:                                                   `method must be a text`,
		`"shop.Orders/Get"`:                                       `the message is missing`,
		`"shop.Orders/Upload"`:                                    `the messages are missing`,
		`"shop.Orders/Get", messages = [{}]`:                      `shop.Orders/Get takes one message`,
		`"shop.Orders/Get", {}, messages = [{}]`:                  `has both message and messages`,
		`"shop.Orders/Get", {"idd": "7"}`:                         `message: it is no shop.Item: (line 1:2): unknown field "idd"`,
		`"shop.Orders/Get", {"n": "many"}`:                        `invalid value for int32 field n`,
		`"shop.Orders/Get", {"kind": "HUGE"}`:                     `invalid value for enum field kind`,
		`"shop.Orders/Get", {"n": "1${x}"}`:                       `n has text beside ${...}, and a int32 is one value`,
		`"shop.Orders/Get", {"lost": "${x}"}`:                     `shop.Item has no field "lost"`,
		`"shop.Orders/Get", "{"`:                                  `message is a text, and not JSON`,
		`"shop.Orders/Get", [1]`:                                  `message must be a dict, or a text of JSON`,
		`"shop.Orders/Upload", messages = [{}, {"n": "x"}]`:       `messages[1]: it is no shop.Item`,
		`"shop.Orders/Get", {}, metadata = {"X-A": "b"}`:          `the metadata "X-A" has a capital letter`,
		`"shop.Orders/Get", {}, metadata = {"grpc-timeout": "1"}`: `metadata has grpc-timeout in it, which belongs to the protocol`,
		`"shop.Orders/Get", {}, timeout = 5`:                      `timeout`,
		`"shop.Orders/Get", {"id": "${x}"}`:                       `${x}`,
		`"shop.Orders/Get", {}), expect = [code("OKAY")]`:         `neither gRPC nor Kafka has a code "OKAY"`,
	} {
		end := "))])"
		if strings.HasSuffix(call, "]") && strings.Contains(call, "expect") {
			end = ")])"
		}
		_, _, err := loadFolder(shopFolder(`workflow(name = "w", vus = 1, duration = "1s", steps = [step("get", grpc.call(shop, ` + call + end))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "main.star:2:") {
			t.Errorf("%s: got %v, want %s", call, err, want)
		}
	}
}

// Words stand for secrets until their values are known.
func TestSecretsInCalls(t *testing.T) {
	p, _, err := loadFolder(shopFolder(`workflow(name = "w", vus = 1, duration = "1s", steps = [step("get", grpc.call(shop, "shop.Orders/Get", {"id": secret("token")}, metadata = {"authorization": "Bearer " + secret("token")}))])`))
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Workflow("w").Steps[0].Request; strings.Contains(string(r.Body), "${") || len(r.Headers) != 1 {
		t.Errorf("got %s %v", r.Body, r.Headers)
	}
}
