package push

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
)

// FuzzClickHouseBack: any line is a row or an error, and a row that was read can be added up.
func FuzzClickHouseBack(f *testing.F) {
	version := strings.Repeat("0a", 32)
	f.Add([]byte(`{"kind":"window","job":"j","version":"` + version + `","begun":"3","OK":3,"bucket.ns":["1000"],"bucket.count":[3],"min_ns":1000,"max_ns":1000,"sum_ns":3000,"status.name":["200"],"status.count":["3"]}`))
	f.Add([]byte(`{"kind":"result","version":"` + version + `","status.name":["200"]}`))
	f.Add([]byte("Code: 241. DB::Exception: Memory limit"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, err := parseClickHouse(line); err == nil {
			outputs.Verify([]outputs.Row{r})
		}
	})
}

// An answer that breaks off, and one that is no row, are errors: figures of half a job are none.
func TestClickHouseBackBrokenOff(t *testing.T) {
	row := fmt.Sprintf("{\"kind\":\"window\",\"version\":%q}\n", strings.Repeat("00", 32))
	for body, want := range map[string]string{row: "", row + "Code: 241. DB::Exception": "a row of the table", "cut": "broke off"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if body == "cut" {
				w.Header().Set("Content-Length", "9999")
				body = row
			}
			_, _ = w.Write([]byte(body))
		}))
		k := ClickHouse()
		s, err := outputs.Parse(&k, server.URL)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := k.ReadBack(s, "j")
		if want == "" && (err != nil || len(rows) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %d rows, %v", body, len(rows), err)
		}
		server.Close()
	}
}
