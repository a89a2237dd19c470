package follow

import (
	"errors"
	"fmt"

	"hyperscale/runtime/compare"
	"hyperscale/runtime/history"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// keepIn keeps a run, and compares it with the last good one.
func keepIn(file string, r *report.Result) (lines string, err error) {
	if file == "" {
		if file, err = history.DefaultFile(); err != nil {
			return "", err
		}
	}
	s, err := history.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	run, err := s.Keep(r)
	if err != nil && !errors.Is(err, history.ErrKept) {
		return "", err
	}
	lines = fmt.Sprintf("kept as run %d of %s\n", run.Number, units.Clean(run.Name))
	if why := run.Unjudged(); why != "" {
		return lines + "not judged: " + why + "\n", nil
	}
	base, err := s.LastGood(run)
	if errors.Is(err, history.ErrNone) {
		return lines, nil // the first one, or the first of its load
	}
	if err != nil {
		return lines + "not compared: " + err.Error() + "\n", nil
	}
	c, err := s.Compare(base, run, compare.Default())
	if errors.Is(err, compare.ErrNothing) {
		return lines, nil
	}
	if err != nil {
		return lines + "not compared: " + err.Error() + "\n", nil
	}
	return lines + fmt.Sprintf("against run %d, the last good one: %s\n", base.Number, units.PairLine(&c.Pairs[0])), nil
}
