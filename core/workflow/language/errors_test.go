package language

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"think", "pace", "rate", "iterations"}
	for _, c := range []struct{ name, want string }{
		{"thinks", "think"}, {"Rate", "rate"}, {"think_time", "think"}, {"wait_time", ""}, {"rate_", "rate"}, {"iteration", "iterations"}, {"zzz", ""},
	} {
		if got := Nearest(c.name, known); got != c.want {
			t.Errorf("%q: did you mean %q, want %q", c.name, got, c.want)
		}
	}
}
