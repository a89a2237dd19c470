package feed

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// rows reads a whole table, from the last row to the first.
func rows(t *Table) [][]string {
	r := NewReader(t)
	all := make([][]string, t.Rows)
	for i := t.Rows; i > 0; i-- {
		for _, f := range r.Read(i - 1) {
			all[i-1] = append(all[i-1], string(f))
		}
	}
	return all
}

// twin reads CSV with the standard library; false if it gives no table.
func twin(text string) (header []string, all [][]string, ok bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(all) < 2 {
		return nil, nil, false
	}
	for i, name := range all[0] {
		if name == "" || len(name) > NameMax || slices.Contains(all[0][:i], name) {
			return nil, nil, false
		}
	}
	return all[0], all[1:], len(all[0]) <= ColumnsMax
}

func compare(t interface{ Fatalf(string, ...any) }, text string) bool {
	header, want, ok := twin(text)
	got, err := Scan(CSV, []byte(text))
	if ok != (err == nil) {
		t.Fatalf("%q: got %v, encoding/csv reads %v", text, err, ok)
	}
	if !ok {
		return false
	}
	if diff := cmp.Diff(header, got.Columns); diff != "" {
		t.Fatalf("%q: header (-want +got):\n%s", text, diff)
	}
	if diff := cmp.Diff(want, rows(got)); diff != "" {
		t.Fatalf("%q: rows (-want +got):\n%s", text, diff)
	}
	return true
}

// Any text is read as encoding/csv reads it, or rejected by both.
func TestCSVAgainstTheStandardLibrary(t *testing.T) {
	whole := 0
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.OneOf(
			rapid.SampledFrom([]string{"", "a", "é", " ", `""`, `"x"`, `"x,y"`, `"a""b"`, "\"l\n2\"", "\"l\r\n2\"", `"""`, `"`, "\r"}),
			rapid.StringOfN(rapid.SampledFrom([]rune("ab\",\r\n ;é")), 0, 4, -1),
		)
		var b strings.Builder
		if rapid.Bool().Draw(t, "bom") {
			b.WriteString("\ufeff")
		}
		columns := rapid.IntRange(1, 3).Draw(t, "columns")
		b.WriteString([]string{"", "h", "h,i", "h,i,\"j\""}[columns])
		end := rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\n\n"})
		for range rapid.IntRange(0, 20).Draw(t, "rows") {
			b.WriteString(end.Draw(t, "end"))
			for c := range columns {
				if c > 0 {
					b.WriteString(",")
				}
				b.WriteString(field.Draw(t, "field"))
			}
		}
		b.WriteString(rapid.SampledFrom([]string{"", "\n", "\r\n", "\r"}).Draw(t, "last"))
		if compare(t, b.String()) {
			whole++
		}
	})
	if whole == 0 {
		t.Error("no text was a table")
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\n\"x\"\"y\"\n\n\"\r\n\"", "\ufeffa\r\n1\r", "a\n\"", "a,a\n1,2", "a\n1,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { compare(t, text) })
}

// A value here is a value for encoding/json, and conversely, except invalid UTF-8 and too deep
// nesting.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `[{"a":"\ud83d\ude00"},{"a":null}]`, "{\"a\":1}\n{\"a\":[1,{}]}", `[`, `[{"a":1}`, `{"a":1,"a":2}`, `[]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end, ok := skipValue([]byte(text), 0, 0)
		if ok && !json.Valid([]byte(text[:end])) {
			t.Fatalf("%q is no JSON", text[:end])
		}
		trimmed := strings.TrimLeft(text, " \t\r\n")
		if valid := json.Valid([]byte(text)) && utf8.ValidString(text) && strings.Count(text, "[")+strings.Count(text, "{") < depthMax; valid {
			if end, ok := skipValue([]byte(trimmed), 0, 0); !ok || strings.Trim(trimmed[end:], " \t\r\n") != "" {
				t.Fatalf("%q is JSON", text)
			}
		}
		table, err := Scan(JSON, []byte(text))
		if err != nil {
			return
		}
		r := NewReader(table)
		for i := range table.Rows {
			fields := r.Raw(i)
			for c, field := range fields {
				if !json.Valid(field) {
					t.Fatalf("row %d, column %d: %q is no JSON", i, c, field)
				}
			}
			r.Read(i)
		}
	})
}

// Rows of JSON survive a round trip, in any notation.
func TestJSONRows(t *testing.T) {
	value := rapid.OneOf(
		rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int64Range(-1<<50, 1<<50), func(n int64) any { return n }),
		rapid.SampledFrom([]any{nil, true, false, []any{"x", nil}, map[string]any{"k": "é\n"}}),
	)
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfNDistinct(rapid.StringN(1, 5, 40), 1, 4, func(s string) string { return s }).Draw(t, "columns")
		array, indent := rapid.Bool().Draw(t, "array"), rapid.Bool().Draw(t, "indent")
		var want [][]any
		var b bytes.Buffer
		if array {
			b.WriteString(" [\n")
		}
		for i := range rapid.IntRange(1, 20).Draw(t, "rows") {
			row := map[string]any{}
			var fields []any
			for _, c := range columns {
				v := value.Draw(t, "value")
				row[c], fields = v, append(fields, v)
			}
			want = append(want, fields)
			if array && i > 0 {
				b.WriteString(", ")
			}
			text, err := json.Marshal(row)
			if indent {
				text, err = json.MarshalIndent(row, "", "\t")
			}
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
			b.WriteString("\n")
		}
		if array {
			b.WriteString("]\n")
		}
		table, err := Scan(JSON, b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		r := NewReader(table)
		for i := len(want) - 1; i >= 0; i-- {
			raw := r.Raw(uint64(i))
			for c, name := range table.Columns {
				var got any
				d := json.NewDecoder(bytes.NewReader(raw[c]))
				d.UseNumber()
				if err := d.Decode(&got); err != nil {
					t.Fatal(err)
				}
				w := want[i][slices.Index(columns, name)]
				if n, ok := w.(int64); ok {
					w = json.Number(fmt.Sprint(n))
				}
				if !reflect.DeepEqual(got, w) {
					t.Fatalf("row %d, column %q: got %v, want %v", i, name, got, w)
				}
			}
			plain := r.Read(uint64(i))
			for c, name := range table.Columns {
				if s, ok := want[i][slices.Index(columns, name)].(string); ok && string(plain[c]) != s {
					t.Fatalf("row %d, column %q: got %q, want %q", i, name, plain[c], s)
				}
			}
		}
	})
}

func TestErrorsNameRowAndColumn(t *testing.T) {
	for _, test := range []struct {
		format     Format
		text, want string
	}{
		{CSV, "", "header: the file is empty: its first row names the columns"},
		{CSV, "a,b\n", "header: there are no rows: a feed needs one at least"},
		{CSV, "a,,c\n1,2,3", "header: column 2 has no name: the first row of a CSV file names the columns"},
		{CSV, "a,a\n1,2", `header, column "a": its name stands there twice`},
		{CSV, "a,b\n1,2\n\n\"x\ny\",3\n1,2,3\n", "row 3 (line 6): it has 3 fields, the header has 2"},
		{CSV, "a,b\n1,x\"y\n", `row 1 (line 2), column "b": a quote stands in a field that does not begin with one: put the whole field in quotes, and write each quote in it twice`},
		{CSV, "a,b\n1,\"y\n", `row 1 (line 2), column "b": its quote is never closed: is a quote missing, or one in the text not written twice?`},
		{CSV, "a\n1\n\"y\"z\n", `row 2 (line 3), column "a": behind its closing quote there is more: write a quote in the text twice`},
		{CSV, strings.Repeat(",", 300) + "\n", "header: it has 301 columns, the limit is 256"},
		{CSV, "a\n" + strings.Repeat("x", RowMax+1), "row 1 (line 2): it has 1048577 bytes, the limit is 1048576"},
		{JSON, "", "header: there are no rows: a feed needs one at least"},
		{JSON, "[]", "header: there are no rows: a feed needs one at least"},
		{JSON, "[] 1", "header (line 1): behind the end of the array there is more"},
		{JSON, `{"a":1}` + "\n7", `row 2 (line 2): it is no object: write {"name": value, ...}`},
		{JSON, `{"a":1}` + "\n" + `{"a":01}`, "row 2 (line 2): it is not JSON"},
		{JSON, `[{"a":1},{"b":1}]`, `row 2 (line 1), column "b": row 1 has no such field: all rows have the same fields: write null where there is no value`},
		{JSON, `[{"a":1,"b":2},{"b":1}]`, `row 2 (line 1), column "a": it is missing: all rows have the same fields: write null where there is no value`},
		{JSON, `[{"a":1},{"a":1,"\u0061":2}]`, `row 2 (line 1), column "a": it stands there twice`},
		{JSON, `[{"a":1,"a":2}]`, `row 1 (line 1), column "a": its name stands there twice`},
		{JSON, `[{}]`, `row 1 (line 1): it names no column`},
		{JSON, `[{"a":1}{"a":1}]`, "row 1 (line 1): behind it there is neither a comma nor the end of the array: rows of an array stand between [ and ], with a comma between two"},
		{JSON, `[{"a":1},`, "row 2: the array is never closed: write ] behind the last row"},
	} {
		if _, err := Scan(test.format, []byte(test.text)); err == nil || err.Error() != test.want {
			t.Errorf("%.40q: got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// A shuffled round is a permutation, and the next round another one.
func TestShufflingPermutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Uint64Range(1, 20), rapid.Uint64Range(1, 5000)).Draw(t, "rows")
		s := NewSequence(message.RowsShuffled, n, rapid.Uint64().Draw(t, "seed"))
		round := rapid.Uint64Range(0, 1<<30).Draw(t, "round")
		seen := make([]bool, n)
		moved, differs := 0, 0
		for i := range n {
			row := s.Row(round*n + i)
			if row >= n || seen[row] {
				t.Fatalf("row %d of %d comes twice, or is none", row, n)
			}
			seen[row] = true
			if row != i {
				moved++
			}
			if row != s.Row((round+1)*n+i) {
				differs++
			}
		}
		if n > 100 && (moved < int(n)/2 || differs < int(n)/2) {
			t.Fatalf("of %d rows %d moved, %d are elsewhere in the next round", n, moved, differs)
		}
	})
}

// Each row is about equally frequent at each place.
func TestShufflesAreFair(t *testing.T) {
	const n, seeds = 10, 20_000
	var at [n][n]int
	for seed := range uint64(seeds) {
		s := NewSequence(message.RowsShuffled, n, seed)
		for i := range uint64(n) {
			at[i][s.Row(i)]++
		}
	}
	for i := range at {
		for row, times := range at[i] {
			if times < seeds/n*8/10 || times > seeds/n*12/10 {
				t.Errorf("row %d came %d times at place %d, want about %d", row, times, i, seeds/n)
			}
		}
	}
}

func TestOrders(t *testing.T) {
	s := NewSequence(message.RowsSequential, 3, 9)
	if got := []uint64{s.Row(0), s.Row(1), s.Row(2), s.Row(3), s.Row(7)}; !slices.Equal(got, []uint64{0, 1, 2, 0, 1}) {
		t.Errorf("sequential is %v", got)
	}
	s = NewSequence(message.RowsRandom, 1000, 9)
	var seen [1000]int
	for i := range uint64(100_000) {
		seen[s.Row(i)]++
	}
	if low, high := slices.Min(seen[:]), slices.Max(seen[:]); low < 50 || high > 160 {
		t.Errorf("of a hundred draws a row came %d to %d times", low, high)
	}
}

// For any partition each row is in one part, and blocks of the remaining rows end with it.
func TestSharesArePartitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, of := rapid.Uint64Range(0, 1<<60).Draw(t, "rows"), rapid.Uint32Range(1, 64).Draw(t, "of")
		var at uint64
		for i := range of {
			first, end := Cut(message.RowShare{Index: i, Of: of}, rows)
			if first != at || end < first || end-first > rows/uint64(of)+1 {
				t.Fatalf("part %d of %d is [%d, %d), the one before ends at %d", i, of, first, end, at)
			}
			at = end
		}
		if at != rows {
			t.Fatalf("the parts end at %d of %d", at, rows)
		}
		if first, end := Cut(message.RowShare{Index: of, Of: of}, rows); first != end {
			t.Fatal("a part that is none has rows")
		}
		a, b := rapid.Uint32Range(0, of-1).Draw(t, "a"), rapid.Uint32Range(0, of-1).Draw(t, "b")
		k, l := rapid.Uint64Range(0, 1<<40).Draw(t, "k"), rapid.Uint64Range(0, 1<<40).Draw(t, "l")
		if same := a == b && k == l; (Position(message.RowShare{Index: a, Of: of}, k) == Position(message.RowShare{Index: b, Of: of}, l)) != same {
			t.Fatal("two iterations have one position")
		}
		left := rapid.Uint64Range(0, 100_000).Draw(t, "left")
		cores := rapid.Uint64Range(0, 20).Draw(t, "cores")
		for asked := 0; left > 0; asked++ {
			n := Block(left, rapid.Uint64Range(0, 1<<20).Draw(t, "want"), cores)
			if n == 0 || n > left || n > BlockMax || asked > 100_000 {
				t.Fatalf("a block of %d rows where %d are left", n, left)
			}
			left -= n
			if asked > 300 {
				break
			}
		}
	})
}

func people(n int) []byte {
	var b bytes.Buffer
	b.WriteString("user,password,city\n")
	for i := range n {
		fmt.Fprintf(&b, "user%07d,secret%d,\"Springfield, %d\"\n", i, i*7, i%50)
	}
	return b.Bytes()
}

// Reading a row allocates nothing.
func TestReadingAllocatesNothing(t *testing.T) {
	for _, test := range []struct {
		format Format
		text   string
	}{{CSV, string(people(100))}, {CSV, "a,b\n\"x\"\"y\",z\n"}, {JSON, `{"a":"\u00e9","b":1}` + "\n" + `{"b":2,"a":"x"}`}} {
		table, err := Scan(test.format, []byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(table)
		var k uint64
		if n := testing.AllocsPerRun(1000, func() { r.Read(k % table.Rows); k++ }); n != 0 {
			t.Errorf("%.20q: %v allocations a row", test.text, n)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for _, quoted := range []bool{false, true} {
		data := people(200_000)
		if !quoted {
			data = bytes.ReplaceAll(data, []byte{'"'}, nil)
			data = bytes.ReplaceAll(data, []byte(", "), []byte(" "))
		}
		b.Run(fmt.Sprintf("quoted=%v", quoted), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Scan(CSV, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	table, err := Scan(CSV, people(200_000))
	if err != nil {
		b.Fatal(err)
	}
	s := NewSequence(message.RowsShuffled, table.Rows, 1)
	r := NewReader(table)
	b.ReportAllocs()
	var k uint64
	for b.Loop() {
		r.Read(s.Row(k))
		k++
	}
}
