package kinds_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
)

func init() { places["prometheus"] = newPrometheus }

// newPrometheus is Prometheus behind the proxy. A row is there once with the sum that it has.
func newPrometheus(t *testing.T) outputstest.Place {
	address := serverstest.Prometheus(t)
	p := &place{Proxy: outputstest.NewProxy(serverstest.To(address), nil), key: prometheusKey}
	t.Cleanup(p.Close)
	p.stored = func(job string) (map[string]int, error) {
		rows := outputstest.Rows(job)
		all := map[string]int{}
		for i := range rows {
			if !prometheusHas(&rows[i]) {
				all[meaningless]++
			}
		}
		until := rows[0].Started.Add(time.Minute)
		for _, s := range serverstest.PrometheusSamples(t, address, fmt.Sprintf(`{run=%q,__name__=~"hyperscale_rows_.*"}`, job), until) {
			l := s.Labels
			of := ""
			switch name := strings.TrimPrefix(l["__name__"], "hyperscale_rows_"); {
			case name == "requests_started_total", name == "datacenter_requests_total" && l["result"] == "ok":
				of = strings.Join([]string{"window", l["datacenter"], l["workflow"], l["step"], l["request"]}, "|")
			case name == "threshold_met":
				of = "threshold|" + l["threshold"]
			case name == "checks_total" && l["result"] == "passed":
				of = "check|" + l["check"]
			case name == "job_state":
				of = "run|" + l["state"]
			default:
				continue
			}
			for at, v := range s.Samples {
				if strings.HasPrefix(of, "window") {
					all[fmt.Sprintf("%s|%d|%s", of, at, v)]++
				} else {
					all[of]++
				}
			}
		}
		return all, nil
	}
	return p
}

func prometheusHas(r *outputs.Row) bool {
	switch r.Kind {
	case outputs.RowWindow, outputs.RowLost:
		return r.Datacenter == "" || r.StepKind != message.StepPart
	case outputs.RowThreshold, outputs.RowCheck, outputs.RowRun:
		return true
	case outputs.RowNone, outputs.RowResult, outputs.RowEvent:
	}
	return false
}

func prometheusKey(r *outputs.Row) string {
	if !prometheusHas(r) {
		return meaningless
	}
	switch r.Kind {
	case outputs.RowThreshold:
		return "threshold|" + r.Threshold.Expression
	case outputs.RowCheck:
		return "check|" + r.Step
	case outputs.RowRun:
		return "run|" + r.Run.Outcome
	case outputs.RowWindow, outputs.RowLost:
		n := r.Sum.Begun
		if r.Datacenter != "" {
			n = r.Sum.OK
		}
		request := ""
		if r.StepKind == message.StepPart {
			request = r.Step
		}
		return fmt.Sprintf("window|%s|%s|%s|%s|%d|%d", r.Datacenter, r.Workflow, r.Step, request, r.At().UnixMilli(), n)
	case outputs.RowNone, outputs.RowResult, outputs.RowEvent:
	}
	return meaningless
}
