package main

import "testing"

// TestASurvivorIsWrong: a run beside a server that is killed is judged by its sums, by what the server kept, and by what grows.
func TestASurvivorIsWrong(t *testing.T) {
	flat := []float64{20, 20, 20, 20, 20, 20}
	good := func() survived {
		s := survived{kills: 3, counts: true, kept: 81, files: flat, anons: flat}
		s.totals.Started, s.totals.OK, s.totals.Failed, s.totals.TimedOut, s.totals.Sent = 100, 80, 19, 1, 82
		return s
	}
	for name, tt := range map[string]struct {
		change func(*survived)
		want   int
	}{
		"good":                         {func(*survived) {}, 0},
		"a server that forgets":        {func(s *survived) { s.counts, s.kept = false, 0 }, 0},
		"no kill":                      {func(s *survived) { s.kills = 0 }, 1},
		"nothing failed":               {func(s *survived) { s.totals.Failed, s.totals.OK, s.kept = 0, 99, 99; s.totals.Sent = 99 }, 1},
		"one that has no end":          {func(s *survived) { s.totals.Started++ }, 1},
		"ok, and the server lost it":   {func(s *survived) { s.kept = 79 }, 1},
		"kept, and it was not sent":    {func(s *survived) { s.kept = 83 }, 1},
		"descriptors grow":             {func(s *survived) { s.files = []float64{20, 20, 20, 20, 20, 23} }, 1},
		"data connections come and go": {func(s *survived) { s.files, s.spare = []float64{20, 20, 30, 30, 20, 46}, 16 }, 0},
		"memory grows":                 {func(s *survived) { s.anons = []float64{20, 20, 20, 20, 20, 30} }, 1},
		"data connections stay":        {func(s *survived) { s.files, s.spare = []float64{20, 20, 30, 30, 20, 60}, 16 }, 1},
		"it ended at once":             {func(s *survived) { s.files, s.anons = nil, nil }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := good()
			tt.change(&s)
			if got := s.wrong(); got != tt.want {
				t.Errorf("%d wrong, want %d: %v", got, tt.want, &s)
			}
		})
	}
}
