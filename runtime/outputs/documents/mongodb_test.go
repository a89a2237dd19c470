package documents

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/stats"
	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/mongodb/mongodbtest"
	"hyperscale/runtime/protocol/http1"
)

func TestMongoDB(t *testing.T) {
	server := mongodbtest.Start(t)
	comesBack(t, MongoDB(), server.URL())
	t.Run("a job whose name begins as another's", func(t *testing.T) {
		sink, s := opened(t, MongoDB(), server.URL()+",collection=beside")
		deliver(t, sink, outputstest.Rows("ab")...)
		if rows, err := s.Kind.ReadBack(s, "a"); err != nil || len(rows) > 0 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
		if n, want := server.Documents("beside"), len(outputstest.Rows("ab")); n != uint64(want) {
			t.Errorf("%d documents, want %d", n, want)
		}
	})
	root := filepath.Join(t.TempDir(), "root.pem")
	_, _, authorities := authority.Files()
	if err := os.WriteFile(root, authorities, 0o600); err != nil {
		t.Fatal(err)
	}
	opened(t, MongoDB(), "mongodb://"+server.SecureAddress()+"/shop,ca="+root)
	for place, want := range map[string]string{
		"mongodb://" + server.SecureAddress() + "/shop,tls=true": "certificate",
		server.URL() + ",tls=false,ca=" + root:                   "leave one out",
		"mongodb://127.0.0.1:1/shop":                             "start it, or correct the address",
		"mongodb://127.0.0.1":                                    "and a database",
		"mongodb://a:1,b:2/shop":                                 "of one server",
		"mongodb://load@127.0.0.1/shop":                          "belong together",
		"mongodb://load:9f2c@127.0.0.1/shop":                     "use password_file=FILE",
	} {
		if err := checked(MongoDB(), place); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "9f2c") {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
}

func TestMongoDBUsers(t *testing.T) {
	server := mongodbtest.Start(t, "users")
	t.Setenv("MONGO_RIGHT", mongodbtest.Password)
	t.Setenv("MONGO_WRONG", "not-this-one-1f3a")
	at := strings.Replace(server.URL(), "//", "//app@", 1)
	opened(t, MongoDB(), at+",password_env=MONGO_RIGHT")
	if err := checked(MongoDB(), at+",password_env=MONGO_WRONG"); err == nil || strings.Contains(err.Error(), "1f3a") {
		t.Errorf("a wrong password: %v", err)
	}
	k := MongoDB()
	s, err := outputs.Parse(&k, at+",password_env=MONGO_WRONG")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := k.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	if out := sink.Deliver(context.Background(), outputs.Batch{Rows: outputstest.Rows("a")}); out.Verdict != outputs.VerdictDenied {
		t.Errorf("%+v", out)
	}
}

// What BSON holds comes back, numbers beyond 63 bits too.
func TestMongoDocuments(t *testing.T) {
	rows := outputstest.Rows("a")
	wide := *rows[0].Figures
	var h stats.Histogram
	h.RecordN(10e9, 1.8e9)
	wide.Latency = h.Wire() // its sum is 1.8e19
	rows[0].Figures = &wide
	var bodies []string
	for i := range rows {
		document, _, err := mongoDocument(&rows[i])
		if err != nil {
			t.Fatal(err)
		}
		template, err := bson.Compile(string(document), nil)
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		b, err := template.Append(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(bson.AppendJSON(nil, b)))
	}
	got, err := parseMongo([]byte("[" + strings.Join(bodies, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rows, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func TestMongoAnswers(t *testing.T) {
	failed := &http1.Error{Kind: "server 121", Detail: "2 of the documents failed"}
	for _, c := range []struct {
		what, body string
		answer     error
		want       outputs.Verdict
		rows       []int
	}{
		{"good", `{"ok":1}`, nil, outputs.VerdictDelivered, nil},
		{"a greater version is there", `{"writeErrors":[{"index":1,"code":11000}]}`, failed, outputs.VerdictDelivered, nil},
		{"two bad rows beside one that is there", `{"writeErrors":[{"index":4,"code":121,"errmsg":"b"},{"index":1,"code":11000},{"index":2,"code":121}]}`, failed, outputs.VerdictRejected, []int{2, 4}},
		{"a bad row beside a primary that steps down", `{"writeErrors":[{"index":2,"code":121},{"index":3,"code":189}]}`, failed, outputs.VerdictAgain, nil},
		{"a majority that is late", `{"writeErrors":[{"index":2,"code":121}],"writeConcernError":{"code":64}}`, failed, outputs.VerdictAgain, nil},
		{"no right", `{"ok":0,"code":13}`, &http1.Error{Kind: "server 13"}, outputs.VerdictDenied, nil},
		{"another error", `{"ok":0,"code":1}`, errors.New("internal"), outputs.VerdictAgain, nil},
		{"no JSON", `{`, failed, outputs.VerdictAgain, nil},
	} {
		if out := judgeMongo([]byte(c.body), c.answer); out.Verdict != c.want || !slices.Equal(out.Rows, c.rows) {
			t.Errorf("%s: %+v, want %v %v", c.what, out, c.want, c.rows)
		}
	}
}

// What a server answers may be anything.
func FuzzMongoAnswers(f *testing.F) {
	f.Add([]byte(`{"writeErrors":[{"index":4,"code":121,"errmsg":"b"}]}`))
	document, _, err := mongoDocument(&outputstest.Rows("a")[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("[" + string(document) + "]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if rows, err := parseMongo(b); err == nil && slices.ContainsFunc(rows, func(r outputs.Row) bool { return r.Kind == outputs.RowNone }) {
			t.Error("a row of no kind")
		}
		judgeMongo(b, &http1.Error{Kind: "server 121"})
	})
}
