package convert_test

import (
	"strings"
	"testing"

	"hyperscale/runtime/convert"
	"hyperscale/runtime/convert/curl"
	"hyperscale/runtime/convert/har"
	"hyperscale/runtime/convert/openapi"
	"hyperscale/runtime/report/reporttest"
)

// session is a recording of a login, of its answer, and of a page's other requests.
const session = `{"log":{"entries":[
{"startedDateTime":"2025-03-01T10:00:00Z","time":120,"_resourceType":"document","request":{"method":"GET","url":"https://shop.example/login","headers":[{"name":"sec-fetch-mode","value":"navigate"},{"name":"Accept-Encoding","value":"gzip"}]},
 "response":{"status":200,"headers":[{"name":"Set-Cookie","value":"sid=0123456789abcdef01234567; Path=/"}],"content":{"mimeType":"text/html","text":"<form><input type=hidden name=\"csrf\" value=\"c5rf-77aa88bb99\"></form>"}}},
{"startedDateTime":"2025-03-01T10:00:00.3Z","time":10,"request":{"method":"GET","url":"https://cdn.shop.example/logo.png"},"response":{"status":200,"content":{"mimeType":"image/png"}}},
{"startedDateTime":"2025-03-01T10:00:00.4Z","time":10,"request":{"method":"POST","url":"https://metrics.example/collect"},"response":{"status":204,"content":{}}},
{"startedDateTime":"2025-03-01T10:00:04.1Z","time":300,"request":{"method":"POST","url":"https://shop.example/login","headers":[{"name":"Cookie","value":"sid=0123456789abcdef01234567; _ga=GA1.2.3; seen=yes"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"}],
  "postData":{"mimeType":"application/x-www-form-urlencoded","text":"user=ann&password=hunter2hunter2&csrf=c5rf-77aa88bb99"}},
 "response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"{\"auth\":{\"token\":\"eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl\"},\"cart\":{\"id\":834417},\"a\":{\"ref\":\"zz99zz99zz\"},\"b\":{\"ref\":\"zz99zz99zz\"}}"}}},
{"startedDateTime":"2025-03-01T10:00:04.5Z","time":900,"request":{"method":"GET","url":"https://shop.example/carts/834417/items?page=1","headers":[{"name":"authorization","value":"Bearer eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl"},{"name":"x-ref","value":"zz99zz99zz"}]},
 "response":{"status":304,"headers":[],"content":{"mimeType":"application/json","text":"{}"}}},
{"startedDateTime":"2025-03-01T10:00:05.5Z","time":20,"request":{"method":"POST","url":"https://shop.example/orders","headers":[{"name":"content-type","value":"application/json"}],"postData":{"mimeType":"application/json","text":"{\"cart\":834417,\"note\":\"${x}\",\"password\":\"hunter2hunter2\"}"}},
 "response":{"status":201,"headers":[],"content":{}}}
]}}`

// The converter extracts a value that an answer gives and a later request takes, if its place
// is unambiguous; else it reports that. The file contains neither the value nor a password.
func TestRecordingOfASession(t *testing.T) {
	made, err := har.Convert([]byte(session), convert.Options{File: "shop.star", From: "shop.har"})
	if err != nil {
		t.Fatal(err)
	}
	loads(t, made.Text)
	got := made.Text
	for _, note := range made.Notes {
		got += "# note: " + note + "\n"
	}
	reporttest.Golden(t, "testdata/golden/session.star", got)
	for _, secret := range []string{"hunter2", "eyJhbGciOi", "c5rf-77", "0123456789abcdef"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s stands in the file:\n%s", secret, got)
		}
	}
}

// Convert refuses sources of another kind, and names the right kind.
func TestRefused(t *testing.T) {
	o := convert.Options{File: "a.star"}
	for _, test := range []struct{ kind, text, want string }{
		{"curl", "wget http://a.example", "no curl command"},
		{"curl", "curl -v", "no request"},
		{"curl", "curl ftp://a.example/x", "no host"},
		{"har", "<html>", "Save all as HAR"},
		{"har", `{"log":{"entries":[]}}`, "no log.entries"},
		{"har", `{"log":{"entries":[{"request":{"url":"data:text/plain,x"}}]}}`, "that are not HTTP"},
		{"openapi", "a: [", "no YAML"},
		{"openapi", `{"swagger":"1.2"}`, "no OpenAPI 3 or Swagger 2"},
		{"openapi", `{"openapi":"3.0.0"}`, "no request"},
		{"openapi", strings.Repeat("[", 100_000), "nested too deep"},
		{"openapi", strings.Repeat(`{"a":`, 100_000), "nested too deep"},
		{"postman", `{"requests":[],"id":"1"}`, "version 1"},
		{"postman", `{}`, "no Postman collection"},
		{"har", " \n", "nothing is in it"},
		{"har", `{"openapi":"3.0.0"}`, "use --from-openapi"},
		{"openapi", `{"log":{"entries":[]}}`, "use --from-har"},
		{"openapi", `{"info":{},"item":[]}`, "use --from-postman"},
		{"openapi", `openapi: 4.0.0`, "its version is 4.0.0"},
		{"openapi", "openapi: 3.0.0\npaths:\n" + strings.Repeat("  /a: {}\n", 20_000), "10000 members"},
		{"postman", `{"values":[],"_postman_variable_scope":"environment"}`, "it is a Postman environment"},
		{"postman", "\x1f\x8b\x08rest", "it is compressed"},
		{"openapi", "PK\x03\x04rest", "it is a ZIP"},
	} {
		_, err := readers[test.kind]([]byte(test.text), o)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s of %.40q: %v, want %q", test.kind, test.text, err, test.want)
		}
	}
}

// A billion laughs are not laughed.
func TestYAMLAnchorsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		name, before := string(rune('a'+i)), string(rune('a'+i-1))
		if i == 1 {
			before = "a0"
		}
		b.WriteString(name + ": &" + name + " [" + strings.TrimSuffix(strings.Repeat("*"+before+",", 10), ",") + "]\n")
	}
	if _, err := openapi.Convert([]byte(b.String()), convert.Options{File: "a.star"}); err == nil {
		t.Error("taken")
	}
}

// The new file reads files next to it: a client's identity, and its trusted authorities.
func TestCertificates(t *testing.T) {
	beside := func(name string) bool { return strings.HasSuffix(name, ".pem") }
	for _, test := range []struct{ line, want string }{
		{`curl --cert me.pem --key key.pem https://a.example`, `http.client(tls = tls(certificate = file("me.pem"), key = file("key.pem")))`},
		{`curl -E ./me.pem --cacert ca.pem https://a.example`, `http.client(tls = tls(certificate = file("me.pem"), key = file("me.pem"), ca = file("ca.pem")))`},
		{`curl -k --cacert ca.pem https://a.example`, `http.client(tls = tls(verify = False, ca = file("ca.pem")))`},
		{`curl --cert me.pem:secret https://a.example`, `curl's --cert has a password`},
		{`curl --cert other https://a.example`, `curl's --cert other: put the file beside this one`},
	} {
		made, err := curl.Convert(test.line, convert.Options{File: "a.star", Has: beside})
		if err != nil {
			t.Fatal(test.line, err)
		}
		if text := strings.Join(strings.Fields(made.Text), " "); !strings.Contains(text, test.want) || strings.Contains(text, "secret") {
			t.Errorf("%s: want %s in\n%s", test.line, test.want, made.Text)
		}
	}
}

// An operation, or a whole path, may have its own server.
func TestServersOfPaths(t *testing.T) {
	made, err := openapi.Convert([]byte(`openapi: 3.0.0
servers: [{url: "https://api.example/v1"}]
paths:
  /a: {get: {responses: {"200": {}}}}
  /b: {servers: [{url: "https://files.example/up"}], get: {responses: {"200": {}}}}
  /c: {servers: [{url: "https://files.example"}], get: {servers: [{url: "https://{where}.example/v2", variables: {where: {default: eu}}}], responses: {"200": {}}}}
  /d: {get: {servers: [{url: "/v3"}], responses: {"200": {}}}}
  /e: {get: {servers: [{url: "https://api.example/v1/"}], responses: {"200": {}}}}
`), convert.Options{File: "a.star", From: "a.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	loaded := loads(t, made.Text)
	var got []string
	for _, s := range loaded.Workflow("a").Steps {
		got = append(got, s.Request.URL)
	}
	want := "https://api.example/v1/a https://files.example/up/b https://eu.example/v2/c https://api.example/v3/d https://api.example/v1/e"
	if strings.Join(got, " ") != want || !strings.Contains(made.Text, `param("target_files"`) {
		t.Errorf("it asks %s, want %s:\n%s", got, want, made.Text)
	}
}

// What is authorized is so once, and a parameter without a name is none.
func TestGivenTwice(t *testing.T) {
	made, err := curl.Convert(`curl -u a:b -H 'Authorization: Bearer mine-0123456789' 'http://a.example/x'`, convert.Options{File: "a.star"})
	if err != nil || !strings.Contains(made.Text, "http.bearer(token)") || strings.Contains(made.Text, "http.basic") {
		t.Errorf("%v: curl sends the header that it is given:\n%s", err, made.Text)
	}
	made, err = har.Convert([]byte(`{"log":{"entries":[{"request":{"method":"GET","url":"http://a.example/x","queryString":[{"name":"","value":""},{"name":"","value":"lost"},{"name":"q","value":"1"}]}}]}}`), convert.Options{File: "a.star"})
	if err != nil || !strings.Contains(made.Text, `"/x?q=1"`) || !strings.Contains(strings.Join(made.Notes, "\n"), "without a name is not kept: lost") {
		t.Errorf("%v: %s\n%s", err, made.Notes, made.Text)
	}
}

// TestSecretsAreNotInText: what stays text keeps no secret either, nor does a param that only
// another name brings to a secret's place.
func TestSecretsAreNotInText(t *testing.T) {
	for _, test := range []struct{ kind, text string }{
		{"curl", `curl http://a.example/ -d '{"password":"hunter2222"}'`},
		{"curl", `curl http://a.example/ -H 'Content-Type: application/json' -d '{"password":"hunter2222","n":1e9}'`},
		{"curl", `curl 'http://a.example/?flag&token=hunter2222'`},
		{"curl", `curl http://a.example/ -d 'flag&password=hunter2222'`},
		{"curl", `P=hunter2222; curl -u "ann:$P" http://a.example/`},
		{"curl", `P=hunter2222; curl -H "X-Api-Key: $P" http://a.example/`},
		{"postman", `{"item":[{"request":{"url":"http://a.example/","auth":{"type":"bearer","bearer":[{"key":"token","value":"{{t}}"}]}}}],"variable":[{"key":"t","value":"hunter2222"}]}`},
		{"postman", `{"item":[{"request":{"url":"http://a.example/{{t}}"}}],"variable":[{"key":"t","value":"hunter2222","type":"secret"}]}`},
	} {
		made, err := readers[test.kind]([]byte(test.text), convert.Options{File: "a.star"})
		if err != nil {
			t.Fatal(test.text, err)
		}
		loads(t, made.Text)
		if strings.Contains(made.Text, "hunter2222") || len(made.Secrets) != 1 {
			t.Errorf("%s: secrets %q\n%s", test.text, made.Secrets, made.Text)
		}
	}
}
