package workflow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/feed"
	"hyperscale/core/workflow/language"
)

const peopleCSV = "user,age\nann,41\n\"b,b\",7\n"

func loadFeed(t *testing.T, text string, files ...message.File) (*workflow.Workflow, error) {
	t.Helper()
	p, err := workflow.Load(message.Program{Main: "main.star", Files: append([]message.File{{Name: "main.star", Data: []byte(text)}}, files...)})
	if err != nil {
		return nil, err
	}
	return p.Workflow("w"), nil
}

const steps = `steps = [check("row", lambda vu: "%s is %s" % (vu.row["user"], vu.row["age"]))]`

func TestFeeds(t *testing.T) {
	people := message.File{Name: "data/people.csv", Data: []byte(peopleCSV)}
	for _, test := range []struct {
		feed string
		want message.FeedPlan
	}{
		{`feed.csv("data/people.csv")`, message.FeedPlan{Name: "data/people.csv", Rows: 2}},
		{`feed.csv("data/people.csv", order = "shuffled", unique = True)`, message.FeedPlan{Name: "data/people.csv", Rows: 2, Order: message.RowsShuffled, AtEnd: message.RowsStop, Unique: true}},
		{`feed.csv(path = "data/people.csv", unique = True, at_end = "fail")`, message.FeedPlan{Name: "data/people.csv", Rows: 2, AtEnd: message.RowsFail, Unique: true}},
		{`feed.csv("data/people.csv", order = "random")`, message.FeedPlan{Name: "data/people.csv", Rows: 2, Order: message.RowsRandom}},
		{`feed.json("people.json", at_end = "stop")`, message.FeedPlan{Name: "people.json", Rows: 2, AtEnd: message.RowsStop}},
		{`feed.list([{"user": "ann", "age": 41}, {"age": 7, "user": "b,b"}])`, message.FeedPlan{Name: "main.star:2", Rows: 2}},
	} {
		w, err := loadFeed(t, "\nworkflow(name = \"w\", feed = "+test.feed+", "+steps+")", people, message.File{Name: "people.json", Data: []byte(`[{"user": "ann", "age": 41}, {"user": "b,b", "age": 7}]`)})
		if err != nil {
			t.Errorf("%s: %v", test.feed, err)
			continue
		}
		if diff := cmp.Diff(test.want, w.Plan.Feed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.feed, diff)
		}
		if diff := cmp.Diff([]string{"user", "age"}, w.Vars[:w.Columns]); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", test.feed, diff)
		}
		v := w.NewVU(0, 1, nil)
		from := feed.NewReader(w.Feed.Table)
		for row, want := range []string{"ann is 41", "b,b is 7", "ann is 41"} {
			v.Begin()
			v.SetRow(from, uint64(row%2))
			if out := v.Call(0); out.Kind != want {
				t.Errorf("%s: row %d: got %q (%s), want %q", test.feed, row, out.Kind, out.Detail, want)
			}
		}
	}
}

// JSON keeps the types of its values, and a scalar is the column "value".
func TestFeedValues(t *testing.T) {
	w, err := loadFeed(t, `workflow(name = "w", feed = feed.list([3, "x", None]), steps = [check("row", lambda vu: type(vu.row["value"]))])`)
	if err != nil {
		t.Fatal(err)
	}
	from := feed.NewReader(w.Feed.Table)
	v := w.NewVU(0, 1, nil)
	for i, want := range []string{"int", "string", "NoneType"} {
		v.Begin()
		v.SetRow(from, uint64(i))
		if out := v.Call(0); out.Kind != want {
			t.Errorf("row %d: %q %s, want %s", i, out.Kind, out.Detail, want)
		}
	}
	w, err = loadFeed(t, `workflow(name = "w", feed = feed.csv("p.csv"), steps = [step("a", http.get("http://h/${user}?a=${age}"))])`, message.File{Name: "p.csv", Data: []byte(peopleCSV)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1}, w.Steps[0].Needs); diff != "" {
		t.Error(diff)
	}
}

func TestFeedErrors(t *testing.T) {
	people := message.File{Name: "people.csv", Data: []byte(peopleCSV)}
	broken := message.File{Name: "broken.csv", Data: []byte("a,b\n1\n")}
	for _, test := range []struct{ feed, want string }{
		{`feed.csv("peple.csv")`, `the program has no file "peple.csv"`},
		{`feed.csv("../people.csv")`, `feed.csv: "../people.csv" is not a path inside the file's folder`},
		{`feed.csv("broken.csv")`, `feed.csv: broken.csv: row 1 (line 2): it has 1 fields, the header has 2`},
		{`feed.csv("people.csv", order = "shufled")`, "did you mean \"shuffled\"?"},
		{`feed.csv("people.csv", unique = True, order = "random")`, "write order = \"shuffled\""},
		{`feed.csv("people.csv", unique = True, at_end = "cycle")`, "write at_end = \"stop\" or \"fail\""},
		{`feed.csv("people.csv", order = "random", at_end = "stop")`, "have no end"},
		{`feed.csv("people.csv", unique = 1)`, "unique must be True or False"},
		{`feed.csv()`, "path is missing"},
		{`feed.list([])`, "feed.list: header: there are no rows"},
		{`feed.list([{"a": 1}, {"b": 1}])`, `feed.list: row 2, column "b": row 1 has no such field`},
		{`feed.list([[1]])`, "feed.list: row 1 is a list"},
		{`"people.csv"`, "feed must be what feed.csv, feed.json or feed.list returned"},
	} {
		_, err := loadFeed(t, "workflow(name = \"w\", feed = "+test.feed+", "+steps+")", people, broken)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v\nwant %s", test.feed, err, test.want)
		}
	}
	w, err := loadFeed(t, `workflow(name = "w", steps = [check("row", lambda vu: vu.row["a"])])`)
	if err != nil {
		t.Fatal(err)
	}
	if out := w.NewVU(0, 1, nil).Call(0); !strings.Contains(out.Detail, "this workflow has no feed") {
		t.Errorf("got %+v", out)
	}
}

// Rows that are too many do not travel: the program names their file, and reports what it needs
// of them.
func TestLargeFeeds(t *testing.T) {
	text := `workflow(name = "w", feed = feed.csv("large.csv"), steps = [step("a", http.get("http://h/${user}"))])
workflow(name = "x", feed = feed.json(path = "huge.json"), steps = [step("a", http.get("http://h/"))])
workflow(name = "y", feed = feed.csv("small.csv"), steps = [step("a", http.get("http://h/"))])`
	files, large, err := collect.Files("main.star", collect.Reads(func(name string) ([]byte, error) {
		switch name {
		case "main.star":
			return []byte(text), nil
		case "large.csv":
			return []byte(strings.Repeat("a\n", 150<<10)), nil
		case "small.csv":
			return []byte(peopleCSV), nil
		}
		return nil, fmt.Errorf("%s: %w", name, collect.ErrLarge)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]collect.Large{{Name: "large.csv"}, {Name: "huge.json", JSON: true}}, large); diff != "" || len(files) != 2 {
		t.Errorf("%d files, large (-want +got):\n%s", len(files), diff)
	}
	p, err := workflow.Load(message.Program{Main: "main.star", Files: files, Feeds: []message.FeedFile{
		{Name: "large.csv", Bytes: 1, Rows: 150 << 10, Columns: []string{"user"}}, {Name: "huge.json", JSON: true, Bytes: 1, Rows: 9, Columns: []string{"x"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if w := p.Workflow("w"); w.Feed.Table != nil || w.Feed.File == nil || w.Plan.Feed.Rows != 150<<10 || w.Vars[0] != "user" {
		t.Errorf("got %+v, plan %+v", w.Feed, w.Plan.Feed)
	}
	var bad *language.Error
	_, err = workflow.Load(message.Program{Main: "main.star", Files: files, Feeds: []message.FeedFile{{Name: "large.csv", JSON: true, Bytes: 1, Rows: 1, Columns: []string{"user"}}}})
	if !errors.As(err, &bad) || !strings.Contains(bad.Message, "as CSV and as JSON") {
		t.Errorf("got %v", err)
	}
}
