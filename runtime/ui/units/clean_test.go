package units

import "testing"

// Lines and tabs stay, and nothing that a terminal would obey.
func TestCleanLines(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "\n": "\n", "a\n\tb\n": "a\n\tb\n", "a\x1b[2J\nb\r\x07": "a·[2J\nb··", "\xff\n\u202ex": "·\n·x",
	} {
		if got := CleanLines(in); got != want {
			t.Errorf("%q reads %q, want %q", in, got, want)
		}
	}
}
