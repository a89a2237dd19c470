package workflow_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/request"
)

// said calls a function whose body logs, and returns its log or its error.
func said(t testing.TB, expression string) string {
	t.Helper()
	w := one(t, "vu.log("+expression+")\nreturn vu.http.get(\"http://h/\")")
	c := &fake{}
	v := w.NewVU(7, 1, c)
	v.Begin()
	if out := v.Call(0); !out.OK {
		return out.Detail
	}
	return strings.Join(c.logs, "\n")
}

// The results of the modules for users' values; expected values from the standards if they have
// some (RFC 4648, 1321, 4231, 9562, 7515).
func TestModules(t *testing.T) {
	tests := []struct{ expression, want string }{
		{`base64.encode("foobar")`, "Zm9vYmFy"},
		{`base64.encode(b"\xff\xfe")`, "//4="},
		{`base64.encode(b"\xff\xfe", url = True)`, "__4"},
		{`base64.encode("a", padding = False)`, "YQ"},
		{`base64.decode("__4") == b"\xff\xfe"`, "True"},
		{`str(base64.decode("Zm9v\r\nYg=="))`, "foob"},
		{`hex.encode("\x01é")`, "01c3a9"},
		{`str(hex.decode("6869"))`, "hi"},
		{`md5("")`, "d41d8cd98f00b204e9800998ecf8427e"},
		{`sha1("abc")`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{`sha256("abc")`, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{`sha512("abc")[:16]`, "ddaf35a193617aba"},
		{`sha256("abc", encoding = "base64")`, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
		{`len(sha256("abc", encoding = "bytes"))`, "32"},
		{`hmac("Jefe", "what do ya want for nothing?")`, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{`hmac("Jefe", "what do ya want for nothing?", hash = "md5")`, "750c783e6ab0b503eaa86e310a5db738"},
		{`uuid.v5("dns", "www.example.com")`, "2ed6657d-e927-568b-95e1-2665a8aea6a2"},
		{`uuid.v5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com")`, "2ed6657d-e927-568b-95e1-2665a8aea6a2"},
		{`[(len(u), u[14], u[19] in "89ab", u == uuid.v4()) for u in [uuid.v4()]]`, `[(36, "4", True, False)]`},
		{`url.encode("a b&ü/")`, "a%20b%26%C3%BC%2F"},
		{`url.encode({"q": "a b", "n": [1, 2]})`, "q=a+b&n=1&n=2"},
		{`url.decode("a%20b+c")`, "a b c"},
		{`url.join("http://h/a/b?x=1", "../c?y=2")`, "http://h/c?y=2"},
		{`url.parse("https://u:p@h:81/a%20b?x=1&x=2&y#f")`, `struct(fragment = "f", host = "h", password = "p", path = "/a%20b", port = "81", query = {"x": ["1", "2"], "y": [""]}, scheme = "https", user = "u")`},
		{`time.now()`, "2026-11-21T10:20:30.456789012Z"},
		{`time.now().unix`, "1795256430"},
		{`time.now().unix_ms`, "1795256430456"},
		{`time.now() + time.duration("1h") - time.parse("Sat, 21 Nov 2026 10:20:30 GMT")`, "1h0m0.456789012s"},
		{`time.now().format("%Y%m%dT%H%M%SZ %j %a %f %%")`, "20261121T102030Z 325 Sat 456789 %"},
		{`time.now().format()`, "2026-11-21T10:20:30Z"},
		{`time.now() > time.unix(0) and time.unix(1.5).unix_ns == 1500000000`, "True"},
		{`time.duration("90s") / time.duration("1m"), `, "1.5"},
		{`time.duration("3s") * 2 // 4`, "1.5s"},
		{`-time.duration("3s")`, "-3s"},
		{`time.unix(9000000000) + time.duration("2000000h")`, "the time is out of range"},
		{`regex.find("id=(\\d+)", "x id=42 id=43")`, "42"},
		{`str(regex.find("\\d+", "x"))`, "None"},
		{`regex.find_all("(\\d)(x)?", "1x2")`, `["1", "2"]`},
		{`regex.match("(\\d)(x)?", "a2")`, `["2", "2", None]`},
		{`regex.replace("(\\w+)@(\\w+)", "ann@home", "$2 at ${1}")`, "home at ann"},
		{`regex.split(",\\s*", "a, b,c,")`, `["a", "b", "c", ""]`},
		{`regex.find(regex.compile("(?i)TOK"), "my token")`, "tok"},
		{`html.first("<input name=csrf value=t0k>", "input[name=csrf]").attrs["value"]`, "t0k"},
		{`str(html.first("<p>", "a"))`, "None"},
		{`[(e.name, e.text, e.attr("href", "-")) for e in html.select("<a href=/1>One <b>x</b></a><a>Two</a>", "a")]`, `[("a", "One x", "/1"), ("a", "Two", "-")]`},
		{`xml.select("<a><b id='1'/><b id='2'>t</b></a>", "//b/@id")`, `["1", "2"]`},
		{`xml.first("<a><b id='2'>t</b></a>", "/a/b[@id='2']").text`, "t"},
		{`math.floor(math.sqrt(17))`, "4"},
		{`struct(a = 1, b = [2]).b[0]`, "2"},
		{`json.encode(struct(b = 1, a = struct(c = None)))`, `{"a":{"c":null},"b":1}`},
		{`jwt.sign({"sub": "ann"}, "secret")`, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm4ifQ.PjR3fgnevdXvvFDIexpV052PaeBybdsfUE102L3fkg4"},
		{`aws.sign("GET", "https://example.amazonaws.com/", region = "us-east-1", service = "service", access_key = "AKIDEXAMPLE", secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", time = time.parse("2015-08-30T12:36:00Z"))["Authorization"][-64:]`, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
	}
	for _, test := range tests {
		if got := said(t, strings.TrimSuffix(test.expression, ", ")); got != test.want && !strings.Contains(got, test.want) || got == "" {
			t.Errorf("%s:\n got %s\nwant %s", test.expression, got, test.want)
		}
	}
}

// An error says what to do; a result that is too large is rejected before it is built.
func TestModulesRefuse(t *testing.T) {
	tests := []struct{ expression, want string }{
		{`base64.decode("%%")`, `base64.decode: "%%" is not base64`},
		{`hex.decode("0g")`, `"0g" is not hex`},
		{`sha256(1)`, "data must be a text, bytes or a secret, not int 1"},
		{`sha256("a", encoding = "hx")`, `did you mean "hex"?`},
		{`hmac("k")`, "hmac: data is missing: it takes key and data"},
		{`uuid.v5("dnss", "x")`, `namespace = "dnss" is no UUID`},
		{`url.decode("%zz")`, "without two hex digits"},
		{`url.join("http://h", ":")`, "is no URL"},
		{`time.now().format("%Q")`, "has %Q in it"},
		{`time.duration("3")`, "is not a duration"},
		{`time.duration("3s") / 0`, "cannot be divided by 0"},
		{`time.duration("2000000h") * 1000`, "out of range"},
		{`time.now() + time.now()`, "unknown binary op: time + time"},
		{`time.parse("yesterday")`, "is not a time"},
		{`regex.find("(", "x")`, "missing closing )"},
		{`regex.find("((a{500}){500}", "x")`, "cannot be read"},
		{`regex.find("(a{20}){50}(a{20}){50}\\w{1000}(b|c|d){900}((ab){31}){31}((ab){31}){31}((ab){31}){31}", "x")`, "too large when its repetitions are written out"},
		{`regex.find("a{1000}", "a" * 1000000)`, "takes too long on 977 KiB of text"},
		{`regex.replace("a", "a" * 100000, "$0" * 1000)`, "regex.replace would make a text of 95 MiB"},
		{`regex.find_all("", "a" * 2000000)`, "would make 2097154 elements"},
		{`html.select("<a>", "a[")`, `the selector "a[" cannot be read`},
		{`html.select(vu.http.get("http://h/"), "a")`, "write html.select(name.text(), ...)"},
		{`html.select("<a>" * 1500000, "a")`, "text has 4 MiB, the limit is 4 MiB"},
		{`xml.select("<a>", "/a")`, "<a> is not closed"},
		{`xml.select("<a/>", "/a[")`, "has a [ that is not closed"},
		{`struct(1)`, "named arguments only"},
		{`jwt.sign({}, "-----BEGIN PRIVATE KEY-----")`, "holds no private key"},
		{`jwt.sign({}, "k", algorithm = "none")`, `algorithm = "none" is unknown`},
		{`jwt.sign({}, "k", algorithm = "RS256")`, "RS256 takes an RSA key in PEM"},
		{`aws.sign("GET", "/x", region = "r", service = "s", access_key = "a", secret_key = "s")`, "is not an absolute URL"},
		{`file("x")`, "file declares, and only a file that is being loaded can declare"},
	}
	for _, test := range tests {
		if got := said(t, test.expression); !strings.Contains(got, test.want) {
			t.Errorf("%s:\n got %s\nwant %s", test.expression, got, test.want)
		}
	}
}

// While a file loads there is neither a clock nor randomness.
func TestModulesWhileLoading(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{"time.now()", "there is no clock while a file is loaded"},
		{"uuid.v4()", "uuid.v4 draws a random number"},
		{`aws.sign("GET", "http://h/", region = "r", service = "s", access_key = "a", secret_key = "s")`, "aws.sign signs the time"},
	} {
		_, err := workflow.Load(program("test.star", "x = "+test.expression+"\n"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.expression, err)
		}
	}
}

// file() reads a file in the main file's folder, and Files finds it.
func TestDataFiles(t *testing.T) {
	const use = "workflow(name = \"w\", steps = [step(\"a\", http.post(\"http://h/\", body = data))])\n"
	disk := map[string]string{
		"main.star":    "data = file(\"data/raw.bin\")\n" + use,
		"data/raw.bin": "\xff\x00",
		"lib.star":     "load(\"x/l.star\", \"data\")\n" + use,
		"x/l.star":     "data = file(path = \"data/raw.bin\")\n",
		"both.star":    "text = file(\"x/l.star\")\nload(\"x/l.star\", \"data\")\n" + use,
		"gone.star":    "data = file(\"data/raw.bim\")\n" + use,
		"hidden.star":  "name = \"data/raw.bin\"\ndata = file(name)\n" + use,
		"outside.star": "data = file(\"../x\")\n" + use,
		"large.star":   "data = file(\"large.bin\")\n" + use,
		"large.bin":    strings.Repeat("x", 600<<10),
		"code.star":    "load(\"x/code.star\", \"data\")\n" + use,
		"x/code.star":  "# " + strings.Repeat("x", 600<<10),
		"own.star":     "def file(x):\n    return x\ndata = file(\"nothing.bin\")\n" + use,
		"lost.star":    "load(\"x/gone.star\", \"data\")\n" + use,
		"far.star":     "data = file(\"denied.bin\")\n" + use,
	}
	read := func(name string) ([]byte, error) {
		if text, ok := disk[name]; ok {
			return []byte(text), nil
		}
		if name == "denied.bin" {
			return nil, fmt.Errorf("%s: permission denied", name)
		}
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	tests := []struct{ main, want string }{
		{"main.star", "main.star data/raw.bin -> \"\\xff\\x00\""},
		{"lib.star", "lib.star x/l.star data/raw.bin -> \"\\xff\\x00\""},
		{"both.star", "both.star x/l.star data/raw.bin -> \"\\xff\\x00\""},
		{"gone.star", "gone.star:1:13: the program has no file \"data/raw.bim\"\n    data = file(\"data/raw.bim\")\n                ^^^^^^^^^^^^^^\n  it must lie in the folder of gone.star"},
		{"hidden.star", "its name must stand in the call as it is"},
		{"outside.star", "file: \"../x\" is not a path inside the file's folder"},
		{"large.star", "large.star -> \"\" and large.bin of 614400"},
		{"code.star", "the program's files have 601 KiB, the limit is 512 KiB"},
		{"own.star", "own.star -> \"nothing.bin\""},
		{"lost.star", "lost.star:1:6: load: x/gone.star does not exist\n    load(\"x/gone.star\", \"data\")\n         ^^^^^^^^^^^^^\n  check the name: it is a path below the folder of lost.star"},
		{"far.star", "far.star:1:13: file: denied.bin: permission denied"},
	}
	for _, test := range tests {
		files, large, err := collect.Files(test.main, collect.Reads(read))
		var loaded *workflow.Program
		if err == nil {
			loaded, err = workflow.Load(message.Program{Main: test.main, Files: files, Feeds: elsewhere(large, 600<<10)})
		}
		got := fmt.Sprint(err)
		if err == nil {
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
			}
			r := loaded.Workflow("w").Steps[0].Request
			got = fmt.Sprintf("%s -> %q", strings.Join(names, " "), r.Body)
			for _, f := range r.Files {
				got += fmt.Sprintf(" and %s of %d", f.File.Name, f.File.Size)
			}
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", test.main, got, test.want)
		}
	}
}

// FuzzModules calls each function with any texts: it returns or fails, within its bounds of
// memory.
func FuzzModules(f *testing.F) {
	calls := []string{
		"base64.decode(a)", "hex.decode(a)", "url.encode(a)", "url.decode(a)", "url.parse(a)", "url.join(a, b)", "hmac(a, b, hash = c)", "uuid.v5(a, b)",
		"regex.find_all(a, b)", "regex.replace(a, b, c)", "regex.split(a, b)", "regex.match(a, b)", "html.select(a, b)", "xml.select(a, b)",
		"jwt.sign({a: b}, c)", "jwt.sign({}, a, algorithm = b)", "time.parse(a)", "time.now().format(a)", "time.duration(a)",
		"aws.sign(a, b, region = c, service = \"s3\", access_key = a, secret_key = b)",
	}
	f.Add(uint8(8), "(\\d+)", "a1b22", "$1")
	f.Add(uint8(12), "<a href=x>y</a>", "a[href]", "")
	f.Add(uint8(13), "<a><b id='1'/></a>", "//b/@id", "")
	f.Add(uint8(4), "http://u:p@h:80/a?b=c#d", "", "")
	var text strings.Builder
	for i, call := range calls {
		fmt.Fprintf(&text, "def f%d(vu):\n    a, b, c = vu.shared\n    return %s\n", i, call)
	}
	text.WriteString("workflow(name = \"w\", setup = lambda vu: json.decode(vu.http.get(\"http://h/\").text()), steps = [")
	for i := range calls {
		fmt.Fprintf(&text, "step(f%d), ", i)
	}
	p, err := workflow.LoadWithin(program("fuzz.star", text.String()+"])\n"), small())
	if err != nil {
		f.Fatal(err)
	}
	w := p.Workflow("w")
	f.Fuzz(func(t *testing.T, which uint8, a, b, c string) {
		v := w.NewVU(1, 1, &fake{answer: func(*request.Request) *workflow.Response {
			return &workflow.Response{Status: 200, Body: []byte(fmt.Sprintf("[%s, %s, %s]", quoted(a), quoted(b), quoted(c)))}
		}})
		v.Begin()
		if out := v.Run(workflow.HookSetup); !out.OK {
			return
		}
		if out := v.Call(int(which) % len(calls)); out.OK {
			t.Fatalf("no function returns a response: %+v", out)
		}
	})
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return "\"\""
	}
	return string(b)
}
