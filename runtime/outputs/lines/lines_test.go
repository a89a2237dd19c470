package lines

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// window has n requests of 20 ms, and figures of every kind.
func window(n uint64) outputs.Row {
	h := new(stats.Histogram)
	h.RecordN(20e6, n)
	return outputs.Row{
		Kind: outputs.RowWindow, Job: "J", Test: "checkout.star", Workflow: "buy", Step: "pay", Started: begun, From: 10 * time.Second, To: 20 * time.Second,
		Figures: &outputs.Figures{
			Begun: n, OK: n, BytesIn: 100, BytesOut: 10, ActiveUsers: 7, Latency: h.Wire(), Service: h.Wire(),
			Statuses: []message.StatusCount{{Status: 200, Count: n}},
		},
	}
}

// readInflux reads a line by the rules of "Line protocol reference", apart from how it is written: a backslash in front
// of a comma, an equals sign or a space takes its meaning away, and a quote begins a text in a field alone.
func readInflux(line string) (measurement string, tags [][2]string, fields map[string]string, ok bool) {
	split := func(s, at string) (parts []string) {
		part, quoted := "", false
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`, ="\`, s[i+1]) >= 0:
				part += s[i : i+2]
				i++
			case s[i] == '"' && at != "name":
				quoted = !quoted
				part += `"`
			case !quoted && s[i:i+1] == at:
				parts, part = append(parts, part), ""
			default:
				part += s[i : i+1]
			}
		}
		return append(parts, part)
	}
	three := split(line, " ")
	if len(three) != 3 {
		return "", nil, nil, false
	}
	plain := strings.NewReplacer(`\,`, ",", `\=`, "=", `\ `, " ")
	for i, t := range split(three[0], ",") {
		if i == 0 {
			measurement = plain.Replace(t)
			continue
		}
		two := split(t, "=")
		if len(two) != 2 || two[1] == "" {
			return "", nil, nil, false
		}
		tags = append(tags, [2]string{plain.Replace(two[0]), plain.Replace(two[1])})
	}
	fields = map[string]string{}
	for _, f := range split(three[1], ",") {
		two := split(f, "=")
		if len(two) != 2 {
			return "", nil, nil, false
		}
		fields[plain.Replace(two[0])] = two[1]
	}
	return measurement, tags, fields, true
}

// FuzzInflux: a name never ends its place, and names that differ stay different.
func FuzzInflux(f *testing.F) {
	for _, s := range []string{"", "a b", `a\`, `a\,b=c`, "a\nhyperscale_window begun=1i 1", `"`, "\x00\x7f\u2028", "é\xff", "#"} {
		f.Add(s, "step")
		f.Add("tag", s)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		r := window(3)
		r.Workflow, r.Step = value, "s"+value
		r.Tags = []message.Tag{{Name: "n" + name, Value: "v" + value}}
		r.Figures.Errors = []message.ErrorCount{{Kind: name, Count: 9}}
		line := string(AppendInflux(nil, &r))
		if strings.Count(line, "\n") != 1 || line[len(line)-1] != '\n' {
			t.Fatalf("lines: %q", line)
		}
		measurement, tags, fields, ok := readInflux(line[:len(line)-1])
		if !ok || measurement != "hyperscale_window" || fields["begun"] != "3i" || fields["p99_ns"] != "20000000i" {
			t.Fatalf("%q is read as %q %q %q", line, measurement, tags, fields)
		}
		want := 5 // run, test, workflow, step, and the user's
		if value == "" {
			want--
		}
		if len(tags) != want || tags[len(tags)-1][1] != pictures("v"+value) || fields["error_"+pictures(name)] != "9i" {
			t.Fatalf("%q has tags %q and fields %q", line, tags, fields)
		}
		if len(fields) != 22 {
			t.Fatalf("%d fields: %q", len(fields), fields)
		}
	})
}

// pictures is a name as it may stand in a line, without escapes.
func pictures(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\\':
			return '＼'
		case '"':
			return '＂'
		}
		return pictured(r)
	}, s)
}

// FuzzNode: a node of a path has no character that ends one, and names that differ are different nodes.
func FuzzNode(f *testing.F) {
	f.Add("a.b", "a b")
	f.Add("", "%")
	f.Add("_all", "all")
	f.Add(strings.Repeat("x", 300), strings.Repeat("x", 301))
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := Node(a), Node(b)
		if x == "" || len(x) > nodeMax || x[0] == '_' || strings.Trim(x, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_%") != "" {
			t.Fatalf("%q is node %q", a, x)
		}
		if a != b && x == y {
			t.Fatalf("%q and %q are node %q", a, b, x)
		}
	})
}

// FuzzStatsd: a line has one name, one value and its tags, whatever the names are.
func FuzzStatsd(f *testing.F) {
	for _, s := range []string{"", "a:1|c", "x,y=z", "|#a:b", "@0.1", "a\nb:1|c", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r := window(3)
		r.Step, r.Workflow = name, name
		r.Tags = []message.Tag{{Name: "k" + name, Value: "v" + name}}
		r.Figures.Errors = []message.ErrorCount{{Kind: name, Count: 9}}
		for _, d := range []Dialect{Plain, Dog, Telegraf} {
			for _, l := range Statsd(d, "hyperscale", &r) {
				rest, tags := l, ""
				if d == Dog {
					rest, tags, _ = strings.Cut(l, "|#")
				}
				front, value, _ := strings.Cut(rest, ":")
				if strings.ContainsAny(l, "\n\r @\\") || strings.ContainsAny(front+tags, "|") || strings.Count(value, "|") != 1 || strings.ContainsAny(value, ":,") {
					t.Fatalf("%q", l)
				}
				if d == Telegraf && strings.Count(front, "=") != strings.Count(front, ",") || d == Dog && strings.Count(tags, ":") != strings.Count(tags, ",")+1 {
					t.Fatalf("%q", l)
				}
			}
		}
	})
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[a-z]{1,50}`)).Draw(t, "lines")
		all := pack(lines, 50)
		for _, text := range all {
			if len(text) > 50 || text == "" {
				t.Fatalf("%d bytes", len(text))
			}
		}
		if got := strings.Join(all, "\n"); got != strings.Join(lines, "\n") {
			t.Fatalf("%q became %q", lines, got)
		}
		for i := range len(all) - 1 {
			next, _, _ := strings.Cut(all[i+1], "\n")
			if len(all[i])+1+len(next) <= 50 {
				t.Fatalf("%q has room for %q", all[i], next)
			}
		}
	})
}

// A line has no tag twice: a tag of the user gives way to what tells rows apart.
func TestTagsOfTheUserGiveWay(t *testing.T) {
	r := window(1)
	r.Kind, r.Figures, r.Threshold, r.Tags = outputs.RowThreshold, nil, &outputs.Threshold{Expression: "e"}, []message.Tag{{Name: "threshold", Value: "mine"}}
	if line := string(AppendInflux(nil, &r)); !strings.Contains(line, ",threshold=e ") || strings.Contains(line, "mine") {
		t.Error(line)
	}
}
