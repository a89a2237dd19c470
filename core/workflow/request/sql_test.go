package request

import "testing"

// Texts, names in quotes and comments name no parameter.
func TestSQLParameters(t *testing.T) {
	//lint:orderfree each text is judged by itself
	for text, want := range map[string]int{
		"select 1": 0, "select $1": 1, "select $2, $10, $3": 10, "select '$1', $2": 2, `select "$3", $1`: 1, "select 'it''s $4'": 0,
		`select E'\'$5', $1`: 1, "select $1 -- $2": 1, "select $1 -- $2\n, $3": 3, "select /* $2 */ $1": 1, "select /* $2": 0, "select '$1": 0,
		"select $$ $7 $$, $1": 1, "select $a$ $$ $7 $a$, $1": 1, "select a$1": 1, "$": 0, "select $tag": 0, "": 0, "select $99999999999999999999": 0,
	} {
		if got := sqlParameters(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

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
