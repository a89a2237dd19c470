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
