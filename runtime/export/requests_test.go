package export

import (
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// TestRequestsOfFunctionsAreExported: files of all formats have the requests of a function and
// those of setup.
func TestRequestsOfFunctionsAreExported(t *testing.T) {
	r := result(t, func(m *message.Result) {
		m.Workflows[0].Stats.Steps = append(m.Workflows[0].Stats.Steps,
			message.StepStats{Name: "buy/login", Kind: message.StepPart, Started: 7, OK: 7, Latency: histogram(5_000_000)},
			message.StepStats{Name: "setup/token", Kind: message.StepBeside, Started: 3, OK: 3, Latency: histogram(5_000_000)})
	})
	for name, write := range map[string]func(*report.Result) ([]byte, error){
		"junit": JUnit,
		"csv":   CSV,
	} {
		b, err := write(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"buy/login", "setup/token"} {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
	}
}
