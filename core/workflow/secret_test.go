package workflow_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
)

// revealed loads a file and gives its secrets values.
func revealed(t failer, text string, secrets ...message.Secret) *workflow.Workflow {
	t.Helper()
	p, err := workflow.Load(program("test.star", text))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Reveal(secrets); err != nil {
		t.Fatal(err)
	}
	return p.Workflow(p.Plan().Workflows[0].Name)
}

// TestSecretsInRequests: a step and a function send the same, and a value stays at its place.
func TestSecretsInRequests(t *testing.T) {
	const value = `p w/"?&=é\+%`
	for _, c := range []struct {
		arguments string
		want      request.Request
	}{
		{`"http://h/a/" + s + "?x=" + s`, request.Request{URL: "http://h/a/p%20w%2F%22%3F%26%3D%C3%A9%5C%2B%25?x=p+w%2F%22%3F%26%3D%C3%A9%5C%2B%25"}},
		{`"http://u:%s@h/" % s`, request.Request{URL: "http://u:p%20w%2F%22%3F%26%3D%C3%A9%5C%2B%25@h/"}},
		{`"http://h/", headers = {"X": "a {}".format(s), "Y": [s, "plain"]}`, request.Request{URL: "http://h/", Headers: []builtin.Pair{{Name: "X", Value: "a " + value}, {Name: "Y", Value: value}, {Name: "Y", Value: "plain"}}}},
		{`"http://h/", params = {"p": s}, cookies = {"c": "x".join([s, ""])}`, request.Request{URL: "http://h/", Params: []builtin.Pair{{Name: "p", Value: value}}, Cookies: []builtin.Pair{{Name: "c", Value: value + "x"}}}},
		{`"http://h/", auth = bearer`, request.Request{URL: "http://h/", Auth: &request.Auth{Kind: "bearer", Token: value}}},
		{`"http://h/", auth = http.basic("ann", s)`, request.Request{URL: "http://h/", Auth: &request.Auth{Kind: "basic", User: "ann", Password: value}}},
		{`"http://h/", body = "<" + s + ">"`, request.Request{URL: "http://h/", Body: []byte("<" + value + ">"), ContentType: "text/plain; charset=utf-8"}},
		{`"http://h/", json = {"a": [s, "x" + s]}`, request.Request{URL: "http://h/", Body: []byte(`{"a":["p w/\"?&=é\\+%","xp w/\"?&=é\\+%"]}`), ContentType: "application/json"}},
		{`"http://h/", form = {"a": s}`, request.Request{URL: "http://h/", Body: []byte("a=p+w%2F%22%3F%26%3D%C3%A9%5C%2B%25"), ContentType: "application/x-www-form-urlencoded"}},
		{`"http://h/", headers = {"X": base64.encode(s), "Y": hmac(s, "d"), "Z": hmac("k", s) + hex.encode(s)}`, request.Request{URL: "http://h/", Headers: []builtin.Pair{
			{Name: "X", Value: base64.StdEncoding.EncodeToString([]byte(value))}, {Name: "Y", Value: "b63b5c6de70dc25ffc07c2c4cf30ab0b38ba3797e2bfd3ee24ff2b6e3b3f6de2"},
			{Name: "Z", Value: hex.EncodeToString([]byte(value))}}}},
		{`"http://h/", headers = {"X": jwt.sign({"a": 1}, key)}`, request.Request{URL: "http://h/", Headers: []builtin.Pair{{Name: "X", Value: "?"}}}},
	} {
		w := revealed(t, `
s = secret("s")
bearer = http.bearer(s)
key = jwt.key(s)
def f(vu):
    return vu.http.post(`+c.arguments+`)
workflow(name = "w", steps = [step("r", http.post(`+c.arguments+`)), step(f)])
`, message.Secret{Name: "s", Value: value})
		client := &fake{}
		v := w.NewVU(1, 1, client)
		v.Begin()
		if out := v.Call(1); !out.OK {
			t.Errorf("%s: %s", c.arguments, out.Detail)
			continue
		}
		sent, declared := client.requests[0], *w.Steps[0].Request
		for i, h := range c.want.Headers { // of digests: that both are equal is enough
			if strings.Contains(c.arguments, "hmac") && h.Name > "X" || h.Value == "?" {
				c.want.Headers[i].Value = sent.Headers[i].Value
			}
		}
		c.want.Method = "POST"
		same := []cmp.Option{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(request.Request{}, "Bare")}
		if diff := cmp.Diff(c.want, sent, same...); diff != "" {
			t.Errorf("%s, in a function (-want +got):\n%s", c.arguments, diff)
		}
		if diff := cmp.Diff(sent, declared, same...); diff != "" {
			t.Errorf("%s: a function sends something else than a step (-function +step):\n%s", c.arguments, diff)
		}
	}
}

// TestSecretsInExchanges: what a step sends in messages, commands, statements and bytes has the values.
func TestSecretsInExchanges(t *testing.T) {
	const value = `p w/"é`
	w := revealed(t, `
s = secret("s")
workflow(name = "w", steps = [
    step("a", websocket.exchange("ws://h/", send = ["plain", "token " + s], receive = 1)),
    step("b", redis.command(redis.client("redis://h", password = s), "SET", "k", "<" + s + ">")),
    step("c", sql.query(sql.client("postgres://app@h/d", password = s), "select $1", args = [s])),
    step("d", tcp.exchange("tcp://h:1", send = s + "\n", receive = tcp.line())),
    step("e", udp.exchange("udp://h:1", send = s + "!")),
])
`, message.Secret{Name: "s", Value: value})
	of := func(i int) *request.Request { return w.Steps[i].Request }
	//lint:orderfree each text is judged by itself
	for what, got := range map[string]string{
		"plain": string(of(0).Socket.Send[0].Data), "token " + value: string(of(0).Socket.Send[1].Data),
		"<" + value + ">": of(1).Redis.Commands[0][2], value + "\n": string(of(3).Body), value + "!": string(of(4).Body),
	} {
		if got != what {
			t.Errorf("%q is sent, want %q", got, what)
		}
	}
	for _, got := range []string{of(1).Redis.Password, of(2).SQL.Password, of(2).SQL.Statements[0].Args[0].Text} {
		if got != value {
			t.Errorf("%q is sent, want %q", got, value)
		}
	}
}

// TestSecretKeysOfDatabases: a client's key may be a secret, for steps and for functions, and must be that
// of its certificate.
func TestSecretKeysOfDatabases(t *testing.T) {
	certificate, key := identity(t)
	_, other := identity(t)
	file := []byte(`
db = sql.client("postgres://app@h/d", tls = tls(certificate = file("c.pem"), key = secret("k")))
def f(vu):
    return vu.sql.query(db, "select 1")
workflow(name = "w", steps = [step("r", sql.query(db, "select 1")), step(f)])
`)
	files := []message.File{{Name: "test.star", Data: file}, {Name: "c.pem", Data: certificate}}
	load := func() *workflow.Program {
		p, err := workflow.Load(message.Program{Main: "test.star", Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if err := load().Reveal([]message.Secret{{Name: "k", Value: message.Sealed(other)}}); err == nil || !strings.Contains(err.Error(), "does not belong to the first certificate") {
		t.Errorf("a key of another certificate: %v", err)
	}
	p := load()
	if err := p.Reveal([]message.Secret{{Name: "k", Value: message.Sealed(key)}}); err != nil {
		t.Fatal(err)
	}
	w, client := p.Workflow("w"), &fake{}
	v := w.NewVU(1, 1, client)
	v.Begin()
	v.Call(1)
	for what, got := range []*request.SQL{w.Steps[0].Request.SQL, client.requests[0].SQL} {
		if got.Secure.Mode != request.SQLVerified || string(got.Secure.TLS.Key) != string(key) || string(got.Secure.TLS.Certificate) != string(certificate) {
			t.Errorf("%d: %+v", what, got.Secure)
		}
	}
}

// TestSecretsDoNotChangeThePlan: SECRET-1.
func TestSecretsDoNotChangeThePlan(t *testing.T) {
	p := program("test.star", `workflow(name = "w", steps = [step("r", http.get("http://h/", headers = {"X": secret("x"), "Y": secret("y-z")}))])`)
	one, err := workflow.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Secrets = []message.Secret{{Name: "x", Value: "abcd"}, {Name: "y-z", Value: "efgh"}}
	two, err := workflow.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	if one.Digest() != two.Digest() || !cmp.Equal(one.Secrets(), []string{"x", "y-z"}) {
		t.Errorf("%x and %x, %v", one.Digest(), two.Digest(), one.Secrets())
	}
	if err := one.Reveal(p.Secrets[:1]); err == nil || !strings.Contains(err.Error(), `secret "y-z" has no value`) {
		t.Errorf("got %v", err)
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", p.Secrets, p, p.Secrets, p.Secrets[0].Value); strings.Contains(shown, "abcd") {
		t.Error("a program shows its secrets")
	}
}

// TestSecretsAreRefused: what cannot be sent is an error without the value.
func TestSecretsAreRefused(t *testing.T) {
	for _, c := range []struct{ arguments, value, want string }{
		{`"http://" + s + "/"`, "host", "stands in the scheme or the host"},
		{`s`, "http://h/", "stands in the scheme or the host"},
		{`"http://a:b@" + s`, "host", "stands in the scheme or the host"},
		{`"http://h/", headers = {"X": s}`, "li\nne", "which the header X cannot have"},
		{`"http://h/", cookies = {"c": s}`, "se;mi", "which the cookie c cannot have"},
		{`"http://h/", auth = http.basic(s, "x")`, "co:lon", "which a user's name cannot have"},
		{`"http://h/", auth = http.bearer(s)`, "li\nne", "which a token cannot have"},
		{`"http://h/", headers = {s: "x"}`, "name", "a key of a dict"},
		{`"http://h/", headers = {"X": jwt.sign({}, s, algorithm = "RS256")}`, "nokey", "jwt.sign"},
	} {
		p, err := workflow.Load(program("test.star", `s = secret("s")
workflow(name = "w", steps = [step("r", http.get(`+c.arguments+`))])`))
		if err == nil {
			err = p.Reveal([]message.Secret{{Name: "s", Value: message.Sealed(c.value)}})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.value) && len(c.value) > 4 {
			t.Errorf("%s: got %v, want %q", c.arguments, err, c.want)
		}
	}
}

// operations are all that a file can do with a secret, X or Y.
func operations() []string {
	return []string{
		`X + Y`, `"a" + X`, `X + "a"`, `"a%s" % X`, `"%s%s" % (X, Y)`, `"%(a)s" % {"a": X}`, `"%r" % X`, `"%d" % X`, `"%s" % [X]`, `"{}{}".format(X, Y)`, `"{a!r}".format(a = X)`, `"{}".format([X])`,
		`",".join([X, Y])`, `base64.encode(X)`, `hex.encode(X)`, `url.encode(X)`, `sha256(X)`, `md5(X, encoding = "bytes")`, `hmac(X, "d")`, `hmac("k", X)`, `jwt.sign({"a": 1}, X)`, `jwt.sign({"a": X}, "k")`, `jwt.sign({"a": 1}, "k", headers = {"k": X})`,
		`jwt.key(X)`, `json.encode(X)`, `json.encode({"a": [X]})`, `json.decode(X)`, `len(X)`, `X[0]`, `X[1:3]`, `"a" in X`, `X in "abc"`, `X in [Y]`, `X == Y`, `X != Y`, `X == "abcdefgh"`, `X < Y`, `X < "b"`, `[c for c in X]`, `list(X)`,
		`sorted([X, Y])`, `max(X, Y)`, `{X: 1}`, `str(X)`, `repr(X)`, `dict([(X, 1)])`, `X.upper()`, `X.startswith("a")`, `X * 2`, `-X`, `struct(a = X)`, `bytes(X)`, `int(X)`, `float(X)`, `hash(X)`, `type(X)`, `dir(X)`, `bool(X)`, `ord(X)`, `"x".replace("x", X)`, `"x".split(X)`,
		`getattr(X, "pieces", "none")`, `hasattr(X, "upper")`, `base64.decode(X)`, `url.parse(X)`, `url.decode(X)`, `url.join(X, "a")`, `url.encode({"a": X})`, `regex.find("v", X)`, `[X]`, `(X, 1)`, `X and 1`, `X or 1`, `not X`, `1 if X else 2`, `time.parse(X)`, `uuid.v5("dns", X)`, `set([X])`, `zip([X], [Y])`,
		`http.basic("a", X)`, `http.part(X)`, `html.find(X, "a")`, `xml.find(X, "a")`, `any([X])`, `enumerate([X])`, `fail(X)`, `fail("a" + X)`, `vu.sleep(X)`, `vu.random.choice([X])`, `vu.http.get("http://h/", timeout = X)`, `vu.http.get("http://h/", redirects = X)`, `vu.http.get(X)`, `vu.http.request(X, "http://h/")`,
		`vu.http.get("http://h/", headers = X)`, `vu.http.get("http://h/", json = {X: 1})`, `vu.http.get("http://h/", multipart = {"a": X}).body`, `vu.graphql.query("http://h/", "{a}", variables = {"a": X}).status`, `vu.graphql.query("http://h/", X)`, `secret("s")`, `param(X)`, `tls(key = X)`,
		`aws.sign("GET", "http://h/", region = X, service = "s", access_key = "a", secret_key = "b")`, `aws.sign("GET", "http://h/", region = "r", service = "s", access_key = X, secret_key = "b")`, `aws.sign("GET", "http://h/", region = "r", service = "s", access_key = "a", secret_key = "b", headers = {"A": X})`,
		`aws.sign("GET", "http://h/", region = "r", service = "s", access_key = "a", secret_key = "b", body = X)`, `aws.sign("GET", "http://h/", region = "r", service = "s", access_key = "a", secret_key = "b", session_token = X)["X-Amz-Security-Token"]`,
	}
}

// TestNothingDependsOnASecret: SECRET-2. What a function logs, returns and fails with is the
// same for any two values, whatever it does with them.
func TestNothingDependsOnASecret(t *testing.T) {
	all := operations()
	run := func(t failer, text string, values [2]string) string {
		w := revealed(t, text, message.Secret{Name: "s", Value: message.Sealed(values[0])}, message.Secret{Name: "t", Value: message.Sealed(values[1])})
		c := &fake{}
		v := w.NewVU(1, 1, c)
		v.Begin()
		out := v.Call(0)
		return fmt.Sprint(c.logs, out.OK, out.Kind, out.Detail)
	}
	check := func(t failer, expression string, one, two [2]string) {
		text := fmt.Sprintf(`s = secret("s")
t = secret("t")
def f(vu):
    x = %s
    vu.log(x)
    vu.log([x])
    vu.log(type(x))
    vu.log("%%s" %% [x])
    return x
workflow(name = "w", steps = [check(f)])
`, expression)
		a, b := run(t, text, one), run(t, text, two)
		if a != b {
			t.Fatal(fmt.Sprintf("%s: %q is not %q", expression, a, b))
		}
		for _, value := range one {
			for _, form := range []string{value, hex.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value))} {
				if strings.Contains(a, form) {
					t.Fatal(fmt.Sprintf("%s shows %q", expression, a))
				}
			}
		}
	}
	for _, o := range all {
		check(t, strings.NewReplacer("X", "s", "Y", "t").Replace(strings.ReplaceAll(o, "X-Amz", "x-amz")), [2]string{"abcdefgh", "ijklmnop"}, [2]string{"12345", "http://a/b?c=d&é"})
	}
	value := rapid.StringN(4, 20, 40)
	rapid.Check(t, func(rt *rapid.T) {
		expression := "X"
		for range rapid.IntRange(1, 4).Draw(rt, "depth") {
			next := rapid.SampledFrom(all).Draw(rt, "operation")
			if strings.Contains(next, "X-Amz") {
				continue
			}
			expression = strings.ReplaceAll(next, "X", "("+expression+")")
		}
		expression = strings.NewReplacer("X", "s", "Y", "t").Replace(expression)
		draw := func(name string) [2]string { return [2]string{value.Draw(rt, name), value.Draw(rt, name)} }
		check(rt, expression, draw("one"), draw("two"))
	})
}
