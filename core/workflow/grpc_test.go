package workflow_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// A client whose server was not asked ends the load and says what to ask. Other mistakes end it before.
func TestReflectedClients(t *testing.T) {
	//lint:orderfree each is a load of its own
	for text, want := range map[string]string{
		`grpc.client("grpc://h", schema = grpc.reflect())`:                               `main.star:1:34: grpc.client: the program has no descriptors of grpc://h:443`,
		`grpc.client("grpc://h", schema = grpc.reflect(services = ["shop.Orders/Get"]))`: `no service`,
		`grpc.client("grpc://h", schema = grpc.reflect(timeout = "2h"))`:                 `is not between a millisecond and a minute`,
		`grpc.client("grpc://h", schema = grpc.reflect(metadata = {"X": "y"}))`:          `has a capital letter`,
		`grpc.client("grpc://h", schema = grpc.reflect(tls = True))`:                     `tls must be tls(ca = file("ca.pem"))`,
		`grpc.client("grpc://h", schema = grpc.reflect(tls = tls(verify = False)))`:      `grpc.reflect has tls, and grpc://h:443 has none`,
		`grpc.client("grpc://h", schema = grpc.reflect)`:                                 `grpc.proto, grpc.descriptors or grpc.reflect`,
		`grpc.client("grpc://h")`: `grpc.reflect()`,
		"r = grpc.reflect()\nworkflow(name = \"w\", steps = [step(\"s\", lambda vu: grpc.client(\"grpc://h\", schema = r))])": ``,
	} {
		_, _, err := loadFolder(folder{"main.star": text})
		var missing *workflow.Unreflected
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &missing) != strings.Contains(want, "no descriptors of")) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	program := message.Program{Main: "m.star", Files: []message.File{{Name: "m.star", Data: []byte(`shop = grpc.client("grpcs://h", schema = grpc.reflect(services = ["b", "a"], metadata = {"x": secret("token")}), metadata = {"x": "1", "y": "2"})`)}}}
	_, err := workflow.Load(program)
	var missing *workflow.Unreflected
	if !errors.As(err, &missing) || !strings.HasPrefix(missing.Name, "grpc.reflect:grpcs://h:443?") || !slices.Equal(missing.Secrets(), []string{"token"}) {
		t.Fatalf("got %+v, %v", missing, err)
	}
	if err := missing.Reveal([]message.Secret{{Name: "token", Value: "hunter2"}}); err != nil || len(missing.Ask.Metadata) != 2 || missing.Ask.Metadata[1].Value != "hunter2" {
		t.Errorf("got %+v, %v", missing.Ask.Metadata, err)
	}
	program.Files = append(program.Files, message.File{Name: missing.Name, Data: []byte("no set")})
	if _, err = workflow.Load(program); err == nil || errors.As(err, &missing) || !strings.Contains(err.Error(), "the descriptors of grpcs://h:443: it is no descriptor set") {
		t.Errorf("got %v", err)
	}
}

// Words stand for secrets until their values are known.
func TestSecretsInCalls(t *testing.T) {
	p, _, err := loadFolder(shopFolder(`shop = grpc.client("grpcs://h", schema = grpc.proto("api/shop.proto", imports = ["vendor"]))
workflow(name = "w", vus = 1, duration = "1s", steps = [step("get", grpc.call(shop, "shop.Orders/Get", {"id": secret("token")}, metadata = {"authorization": "Bearer " + secret("token")}))])`))
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Workflow("w").Steps[0].Request; strings.Contains(string(r.Body), "${") || len(r.Headers) != 1 {
		t.Errorf("got %s %v", r.Body, r.Headers)
	}
}

// A secret in metadata goes out under TLS, or does not leave the machine; anything else does not load.
func TestSecretsInClear(t *testing.T) {
	const (
		client = `c = grpc.client(%q, schema = grpc.proto("api/shop.proto", imports = ["vendor"])%s)` + "\n"
		steps  = `workflow(name = "w", vus = 1, duration = "1s", steps = [step("get", %s)])`
		call   = `grpc.call(c, "shop.Orders/Get", {}%s)`
		hidden = `, metadata = {"x-tenant": "a", "authorization": "Bearer " + secret("token")}`
		listed = `, metadata = {"authorization": ["a", secret("token")]}`
	)
	for _, row := range []struct{ what, url, client, step, want string }{
		{"a client's", "grpc://h:443", hidden, fmt.Sprintf(call, ""), "grpc.client"},
		{"a client's, in a list", "grpc://10.0.0.1:443", listed, fmt.Sprintf(call, ""), "grpc.client"},
		{"a call's", "grpc://[2001:db8::1]:443", "", fmt.Sprintf(call, hidden), "grpc.call"},
		{"under TLS", "grpcs://h:443", hidden, fmt.Sprintf(call, hidden), ""},
		{"on loopback", "grpc://127.0.0.1:50051", hidden, fmt.Sprintf(call, listed), ""},
		{"on loopback of IPv6", "grpc://[::1]:50051", hidden, fmt.Sprintf(call, listed), ""},
		{"on localhost", "grpc://localhost:50051", hidden, fmt.Sprintf(call, listed), ""},
		{"no secret", "grpc://h:443", `, metadata = {"authorization": "x"}`, fmt.Sprintf(call, ""), ""},
	} {
		_, _, err := loadFolder(shopFolder(fmt.Sprintf(client, row.url, row.client) + fmt.Sprintf(steps, row.step)))
		if row.want == "" {
			require.NoError(t, err, row.what)
			continue
		}
		require.ErrorContains(t, err, row.want+`: the metadata "authorization" has a secret in it, and `+row.url+` sends it in clear`, row.what)
		require.ErrorContains(t, err, `write grpcs:// for TLS`, row.what)
	}
	//lint:orderfree each is a load of its own
	for url, says := range map[string]string{"grpc://h:443": "grpc://h:443 sends it in clear", "grpcs://h:443": ""} {
		p, _, err := loadFolder(shopFolder(fmt.Sprintf(client, url, "") + `token = "Bearer " + secret("token")` + "\n" + fmt.Sprintf(steps, "lambda vu: vu."+fmt.Sprintf(call, `, metadata = {"x": token}`))))
		require.NoError(t, err)
		require.NoError(t, p.Reveal([]message.Secret{{Name: "token", Value: "hunter2"}}))
		f := &fake{}
		v := p.Workflow("w").NewVU(1, 1, f)
		v.Begin()
		out := v.Call(0)
		require.Contains(t, out.Detail, says)
		require.Equal(t, says == "", len(f.requests) == 1, "a function sends %v", f.requests)
	}
	_, _, err := loadFolder(shopFolder(`grpc.client("grpc://h", schema = grpc.reflect(metadata = {"x": secret("token")}))`))
	require.ErrorContains(t, err, `grpc.reflect: the metadata "x" has a secret in it, and grpc://h:443 sends it in clear`)
}
