package request

import "testing"

// Results name a request by its statement's first word.
func TestSQLNames(t *testing.T) {
	//lint:orderfree each text is judged by itself
	for text, want := range map[string]string{"select 1": "SELECT", " Insert into t": "INSERT", "(select 1)": "QUERY", "commit": "COMMIT", "with(x)": "WITH"} {
		s := SQL{Statements: []SQLStatement{{Text: text}}}
		if got := s.name(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
