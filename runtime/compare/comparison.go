package compare

import "hyperscale/runtime/report"

// Schema names the shape of what `compare --json` prints; it changes only if a field's
// meaning does. Fields may be added, never renamed.
const Schema = "hyperscale.comparison/v1"

// Verdict is the judgement of a figure, and of a step by its worst figure.
type Verdict string

// The verdicts on a figure.
const (
	Worse  Verdict = "worse"   // slower, more errors, fewer requests a second
	Better Verdict = "better"  // the other way round
	Same   Verdict = "same"    // it moved by less than the tolerance, or the interval lies within it
	Noise  Verdict = "noise"   // it moved by more, but as much happens by chance
	Few    Verdict = "too_few" // too few requests to tell
	Untold Verdict = "untold"  // the files do not hold what a test needs
)

// The verdicts on a pair of files and on the whole.
const (
	Regression  Verdict = "regression"  // some figure is worse
	Improvement Verdict = "improvement" // some is better, none worse
)

// Comparison is one baseline and the results compared with it.
type Comparison struct {
	Schema        string   `json:"schema"`          // always hyperscale.comparison/v1
	Verdict       Verdict  `json:"verdict"`         // regression if some pair is one; else the first of improvement, noise, same, too_few, untold that some pair is
	AlphaPPM      uint32   `json:"alpha_ppm"`       // chance that some interval of a pair misses, at most
	TolerancePPM  uint32   `json:"tolerance_ppm"`   // change below which nothing is called worse or better
	QuantilesPPM  []uint32 `json:"quantiles_ppm"`   // of latency that are compared, ascending
	ErrorFloorPPM uint32   `json:"error_floor_ppm"` // the same as tolerance_ppm for the share of errors, of all requests
	Baseline      Run      `json:"baseline"`        // what all others are compared with
	Pairs         []Pair   `json:"pairs"`           // one for each other file, in the order given
}

// Run is one of the files.
type Run struct {
	File       string `json:"file"`        // as given
	Job        string `json:"job"`         // its job's id
	Name       string `json:"name"`        // its main file
	Outcome    string `json:"outcome"`     // as in the result
	StartedAt  string `json:"started_at"`  // as in the result
	DurationNS int64  `json:"duration_ns"` // as in the result

	Result *report.Result `json:"-"` // the file itself, for who draws curves
}

// Pair is the baseline and one other file.
type Pair struct {
	Run      Run      `json:"run"`      // the other file
	Verdict  Verdict  `json:"verdict"`  // regression, improvement, noise, same, too_few or untold
	Cautions []string `json:"cautions"` // what else differs, or makes the figures doubtful
	Tests    int      `json:"tests"`    // figures that share alpha: each has alpha / tests
	Steps    []Step   `json:"steps"`    // of both files, in the baseline's order
	Gone     []Place  `json:"gone"`     // steps of the baseline alone
	Added    []Place  `json:"added"`    // steps of the other file alone
}

// Place names a step.
type Place struct {
	Workflow string `json:"workflow"` // as declared
	Step     string `json:"step"`     // as declared
}

// Step compares one step.
type Step struct {
	Place
	Verdict Verdict      `json:"verdict"` // of its worst figure
	Ended   [2]uint64    `json:"ended"`   // requests that ended, in the baseline and in the other file
	Design  [2]Design    `json:"design"`  // how much less than independent requests those say
	Latency []Change     `json:"latency"` // ns, by quantile
	Errors  Change       `json:"errors"`  // parts per million of what ended; its change is their difference
	Rate    Change       `json:"rate"`    // requests that ended, a second, in thousandths
	Service []Change     `json:"service"` // ns, p50, p95, p99: told, not tested, as files keep no histogram of it
	Before  *report.Step `json:"-"`       // in the baseline
	After   *report.Step `json:"-"`       // in the other file
}

// Design is by how much requests of one run hang together: so many of them say as much
// as one independent request. 1: they are independent, or nothing is known.
type Design struct {
	Known   bool      `json:"known"`   // there were windows enough to estimate it
	Latency []float64 `json:"latency"` // by quantile
	Errors  float64   `json:"errors"`  // for the share of errors
	Rate    float64   `json:"rate"`    // not that, but the relative standard error of the rate; -1: not known
}

// Change is one figure in both files. Changes are in parts per million of the
// baseline: 100,000 is 10 % more. Those of errors are of all requests.
type Change struct {
	Figure    string  `json:"figure"`     // p50, p99.9, errors, rate
	Base      uint64  `json:"base"`       // in the baseline
	New       uint64  `json:"new"`        // in the other file
	ChangePPM int64   `json:"change_ppm"` // from the one to the other, between the bounds of buckets
	Tested    bool    `json:"tested"`     // there is an interval
	LowPPM    int64   `json:"low_ppm"`    // all intervals of a pair hold together with 1 - alpha
	HighPPM   int64   `json:"high_ppm"`   // its other end; 2^53: so few requests set no bound
	Verdict   Verdict `json:"verdict"`    // what that means
}
