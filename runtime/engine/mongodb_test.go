package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/mongodb/mongodbtest"
)

func TestMongoDB(t *testing.T) {
	t.Parallel()
	s := mongodbtest.Start(t)
	t.Run("functions", func(t *testing.T) { asksInFunctions(t, s) })
	t.Run("values", func(t *testing.T) { fillsDocuments(t, s) })
	t.Run("counts", func(t *testing.T) { countsCommands(t, s) })
	t.Run("shared connections", func(t *testing.T) { sharesMongoDB(t, s) })
	t.Run("breaks", func(t *testing.T) { countsBrokenRuns(t, s) })
}

// What a run counts is what the server counted, and what PostgreSQL has in the end.
func countsCommands(t *testing.T, s *mongodbtest.Server) {
	fill(t, s, "read", 250)
	affected, documents, batches := "/"+plan.MeasureAffected, "/"+plan.MeasureDocuments, "/"+plan.MeasureBatches
	type counts map[string]uint64
	for _, tt := range []struct {
		name, step string
		want       counts // of an operation
		most       uint64 // users: FerretDB takes long for more
	}{
		{"insert", `insert(m, "orders", [{"state": "new", "n": 1, "price": 1.5}, {"state": "new", "raw": b"\x00"}, {"state": "other"}])`, counts{"insert": 1, affected: 3}, 500},
		{"command", `command(m, {"ping": 1})`, counts{"ping": 1}, 64},
		{"find", `find(m, "read", {"_id": 7})`, counts{"find": 1, documents: 1, batches: 1}, 64},
		{"find all", `find(m, "read", {}, batch = 100)`, counts{"find": 1, "getMore": 2, documents: 250, batches: 3}, 1},
		{"find some", `find(m, "read", {"n": {"$lt": 10}}, sort = {"n": -1}, projection = {"n": 1}, skip = 2, limit = 5)`, counts{"find": 1, documents: 5, batches: 1}, 1},
		{"find in part", `find(m, "read", {}, batch = 20, batches = 2)`, counts{"find": 1, "getMore": 1, "killCursors": 1, documents: 40, batches: 2}, 1},
		{"aggregate", `aggregate(m, "read", [{"$match": {"n": {"$lt": 7}}}])`, counts{"aggregate": 1, documents: 7, batches: 1}, 1},
		{"update", `update(m, "read", {"n": 1}, {"$inc": {"hits": 1}})`, counts{"update": 1, affected: 1}, 1},
		{"update many", `update(m, "read", {"n": {"$lt": 5}}, {"$inc": {"hits": 1}}, many = True)`, counts{"update": 1, affected: 5}, 1},
		{"delete", `delete(m, "read", {"n": -1}, many = True)`, counts{"delete": 1}, 1},
	} {
		for _, vus := range []uint64{1, 64, 500} {
			if vus > tt.most {
				break
			}
			n := max(2, vus)
			stored, before := s.Documents("orders"), s.Commands()
			w := loadFile(t, s.URL(), fmt.Sprintf("m = mongodb.client(\"TARGET\")\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", mongodb.%s)])", n, vus, tt.step))
			got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
			if got.OK != n || got.Started != n || got.Sent != n {
				t.Fatalf("%s/%d: ok %d of %d, sent %d: %v", tt.name, vus, got.OK, got.Started, got.Sent, got.Errors)
			}
			all := s.Commands()
			for command, count := range before {
				all[command] -= count
			}
			for _, m := range got.Measures.List {
				all["/"+m.Name] = m.Count
			}
			if all["hello"] < 1 || all["hello"] > vus { // a user may find no iteration left
				t.Errorf("%s/%d: %d connections", tt.name, vus, all["hello"])
			}
			delete(all, "hello")
			for key, count := range tt.want {
				if all[key] != count*n {
					t.Errorf("%s/%d: %s is %d, want %d", tt.name, vus, key, all[key], count*n)
				}
				delete(all, key)
			}
			for key, count := range all {
				if count > 0 {
					t.Errorf("%s/%d: %s is %d", tt.name, vus, key, count)
				}
			}
			want := uint64(0)
			if tt.name == "insert" {
				want = 3 * n
			}
			if now := s.Documents("orders"); now-stored != want {
				t.Errorf("%s/%d: PostgreSQL has %d more documents, want %d", tt.name, vus, now-stored, want)
			}
		}
	}
}

// fill inserts numbered documents.
func fill(t *testing.T, s *mongodbtest.Server, collection string, n int) {
	t.Helper()
	w := loadFile(t, s.URL(), fmt.Sprintf("workflow(name = \"test\", iterations = 1, vus = 1, duration = \"60s\", steps = [step(\"fill\", mongodb.insert(\"TARGET\", %q, [{\"_id\": n, \"n\": n} for n in range(%d)]))])", collection, n))
	if got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]; got.OK != 1 || s.Documents(collection) != uint64(n) {
		t.Fatalf("%v", got.Errors)
	}
}

// However a run ends, what it counts as good is stored, and nothing is stored that it did not send.
func countsBrokenRuns(t *testing.T, s *mongodbtest.Server) {
	fill(t, s, "broken", 1)
	for _, vus := range []uint64{1, 64, 500} {
		before := s.Documents("broken")
		w := loadFile(t, s.URL(), fmt.Sprintf("workflow(name = \"test\", vus = %d, duration = \"60s\", steps = [step(\"put\", mongodb.insert(\"TARGET\", \"broken\", {\"state\": \"new\"}))])", vus))
		ctx, cancel := context.WithCancel(context.Background())
		stops := make(chan struct{})
		go func() {
			defer close(stops)
			for s.Documents("broken") < before+20 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		got := run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute}).Stats.Steps[0]
		<-stops
		answered := s.Commands()["insert"]
		stored := s.Documents("broken") - before
		if got.OK > stored || stored > got.Sent || got.Failed > 0 || measured(got)[plan.MeasureAffected].Count != got.OK {
			t.Errorf("%d users: ok %d, sent %d, stored %d, answered %d: %v", vus, got.OK, got.Sent, stored, answered, got.Errors)
		}
		if got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled {
			t.Errorf("%d users: %d started: %v", vus, got.Started, got)
		}
	}
}

// Every way to prove a user, with and without TLS; and what is wrong with one is an error of its own.
func TestUsersOfMongoDB(t *testing.T) {
	t.Parallel()
	s := mongodbtest.Start(t, "users")
	for _, tt := range []struct{ url, client, kind string }{
		{s.URL(), `, user = "app", password = "geheim", auth_source = "admin"`, ""},
		{s.URL(), `, user = "app", password = "geheim", auth_source = "admin", mechanism = "scram-sha-1"`, ""},
		{s.SecureURL(), `, user = "app", password = "geheim", auth_source = "admin"`, ""},
		{strings.Replace(s.URL(), "://", "://app:geheim@", 1) + "?authSource=admin&authMechanism=SCRAM-SHA-1", "", ""},
		{s.URL(), `, user = "app", password = "falsch", auth_source = "admin"`, "auth"},
		{s.URL(), `, user = "none", password = "geheim", auth_source = "admin"`, "auth"},
		{s.URL(), "", "server 13"},
	} {
		w := loadFile(t, tt.url, fmt.Sprintf("m = mongodb.client(\"TARGET\"%s)\nworkflow(name = \"test\", iterations = 6, vus = 2, duration = \"60s\", %s, steps = [step(\"ask\", mongodb.find(m, \"orders\", {}))])", tt.client, anyTLS))
		got := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 20 * time.Second}).Stats.Steps[0]
		if good := kinds(got)[tt.kind]; tt.kind == "" && got.OK != 6 || tt.kind != "" && good != 6 || got.Started != 6 {
			t.Errorf("%s%s: ok %d: %v", tt.url, tt.client, got.OK, got.Errors)
		}
		for _, e := range got.Errors {
			if strings.Contains(e.Example, "geheim") || strings.Contains(e.Example, "falsch") {
				t.Errorf("%s shows the password: %s", tt.client, e.Example)
			}
		}
	}
}

// The certificate of TLS proves a user: what a server says of it decides, and no operation comes before.
func TestCertificatesOfMongoDB(t *testing.T) {
	t.Parallel()
	s := mongodbtest.Start(t)
	fill(t, s, "orders", 3)
	_, _, ca := authority.Files()
	const asked = `{"authenticate":1,"mechanism":"MONGODB-X509","$db":"$external"}`
	for name, tt := range map[string]struct {
		client, more string
		judge        mongodbtest.Judge
		kind         string
	}{
		"known": {"app", "", nil, ""},
		"by its subject": {"app", `user = "CN=app", `, func(name, text string) string {
			return map[bool]string{true: `{"ok": 1}`}[text == strings.Replace(asked, `"$db"`, `"user":"CN=app","$db"`, 1)]
		}, ""},
		"by the URL": {"app", "URL", nil, ""},
		"unknown":    {"other", "", nil, "auth"},
		"silence":    {"app", "", func(string, string) string { return "silence" }, "connect_timeout"},
		"the end":    {"app", "", func(string, string) string { return "" }, "closed"},
		"no ok":      {"app", "", func(string, string) string { return `{"user": "CN=app"}` }, "protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			judge := tt.judge
			if judge == nil {
				judge = func(name, text string) string {
					if name == "app" && text == asked {
						return `{"dbname": "$external", "user": "CN=app", "ok": 1}`
					}
					return `{"ok": 0, "errmsg": "Could not find user", "code": 11}`
				}
			}
			timeout := 20 * time.Second
			if tt.kind == "connect_timeout" {
				timeout = time.Second
			}
			url, more := "mongodb://"+s.Certified(judge)+"/shop", tt.more+`mechanism = "mongodb-x509", `
			if tt.more == "URL" {
				url, more = url+"?authMechanism=MONGODB-X509&authSource=$external", ""
			}
			certificate, key := authority.Client(tt.client)
			w := loadFile(t, url, fmt.Sprintf(`m = mongodb.client("TARGET", %stls = tls(certificate = %q, key = %q, ca = %q))
workflow(name = "test", iterations = 6, vus = 2, duration = "60s", steps = [step("ask", mongodb.find(m, "orders", {}))])`, more, certificate, key, ca))
			got := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: timeout}).Stats.Steps[0]
			if good := kinds(got)[tt.kind]; tt.kind == "" && (got.OK != 6 || measured(got)[plan.MeasureDocuments].Count != 18) || tt.kind != "" && good != 6 || got.Started != 6 {
				t.Errorf("ok %d: %v", got.OK, got.Errors)
			}
		})
	}
}

// A function reads what it asked for, and errors of the server by their codes.
func asksInFunctions(t *testing.T, s *mongodbtest.Server) {
	w := loadFile(t, s.URL(), `
m = mongodb.client("TARGET")
def order(vu):
    vu.mongodb.insert(m, "shop", {"_id": "a%d" % vu.id, "at": {"$date": "2026-01-31T12:00:00Z"}, "n": 7, "price": 2.0, "raw": b"\x00\x01", "none": None, "list": [1, {"x": True}]})
    r = vu.mongodb.insert(m, "shop", {"_id": "a%d" % vu.id}, name = "again", expect = [code("11000")])
    if r.code != "11000":
        return fail("code %s" % r.code)
    r = vu.mongodb.find(m, "shop", {"_id": "a%d" % vu.id})
    want = [{"_id": "a%d" % vu.id, "at": {"$date": "2026-01-31T12:00:00Z"}, "n": 7, "price": 2.0, "raw": {"$binary": {"base64": "AAE=", "subType": "00"}}, "none": None, "list": [1, {"x": True}]}]
    if r.json() != want or r.code != "OK":
        return fail("found %s" % r.text())
    r = vu.mongodb.update(m, "shop", {"_id": "new"}, {"$set": {"n": 1}}, upsert = True)
    if r.json()["n"] != 1:
        return fail("updated %s" % r.text())
    r = vu.mongodb.command(m, {"nothing": 1}, name = "nothing", expect = [code("59")])
    if r.code != "59":
        return fail("code %s: %s" % (r.code, r.text()))
    return vu.mongodb.aggregate(m, "shop", [{"$count": "n"}], name = "count")
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("order", order)])`)
	stats := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats
	for name, one := range byName(stats.Steps) {
		if one.OK != 1 || one.Started != 1 {
			t.Errorf("%s: ok %d of %d: %v", name, one.OK, one.Started, one.Errors)
		}
	}
	if got := s.Commands(); got["insert"] != 2 || got["find"] != 1 || got["update"] != 1 || got["aggregate"] != 1 {
		t.Errorf("the server counted %v", got)
	}
}

// Values stand in documents as the types that their places have; one that is none of its type is not sent.
func fillsDocuments(t *testing.T, s *mongodbtest.Server) {
	w := loadFile(t, s.URL(), `
m = mongodb.client("TARGET")
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	step("put", mongodb.insert(m, "values", {"_id": "seven", "n": 7, "text": "a \"quoted\" text"})),
	step("get", mongodb.find(m, "values", {"_id": "seven"}), extract = {"n": json_path("$[0].n"), "text": json_path("$[0].text")}),
	step("number", mongodb.find(m, "values", {"n": {"$numberInt": "${n}"}}), expect = [json_is("$[0]._id", "seven")]),
	step("text", mongodb.find(m, "values", {"text": "${text}"}), expect = [json_is("$[0]._id", "seven")]),
	step("type", mongodb.find(m, "values", {"n": "${n}"}), expect = [body_contains("[]")]),
	step("wrong", mongodb.find(m, "values", {"n": {"$numberInt": "${text}"}})),
])`)
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps)
	for name, one := range steps {
		if name == "wrong" {
			continue
		}
		if one.OK != 1 {
			t.Errorf("%s: ok %d: %v", name, one.OK, one.Errors)
		}
	}
	if wrong := steps["wrong"]; kinds(wrong)["value"] != 1 || wrong.Sent != 0 {
		t.Errorf("wrong: sent %d: %v", wrong.Sent, wrong.Errors)
	}
}
