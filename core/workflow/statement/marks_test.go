package statement

import "testing"

// MySQL counts question marks.
func TestMarks(t *testing.T) {
	//lint:orderfree each text is judged by itself
	for text, want := range map[string]int{
		"select 1": 0, "select ?": 1, "?,?,?": 3, "select '?', ?": 1, `select "?", ?`: 1, "select 'it''s ?'": 0, `select 'a\'?', ?`: 1, "select `a?`, ?": 1, "select `a\\`, ?": 1,
		"select ? -- ?": 1, "select ? --?": 2, "select ? --": 1, "select ? # ?\n, ?": 2, "select /* ? */ ?": 1, "select /*! ? */ ?": 2, "select /*M! ? */ ?": 2, "select /* ?": 0, "select '?": 0, "'": 0, "": 0, `'\`: 0,
	} {
		if got := Marks(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Texts, names in quotes and comments name no parameter.
func TestParameters(t *testing.T) {
	//lint:orderfree each text is judged by itself
	for text, want := range map[string]int{
		"select 1": 0, "select $1": 1, "select $2, $10, $3": 10, "select '$1', $2": 2, `select "$3", $1`: 1, "select 'it''s $4'": 0,
		`select E'\'$5', $1`: 1, "select $1 -- $2": 1, "select $1 -- $2\n, $3": 3, "select /* $2 */ $1": 1, "select /* $2": 0, "select '$1": 0,
		"select $$ $7 $$, $1": 1, "select $a$ $$ $7 $a$, $1": 1, "select a$1": 1, "$": 0, "select $tag": 0, "": 0, "select $99999999999999999999": 0,
	} {
		if got := Parameters(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
