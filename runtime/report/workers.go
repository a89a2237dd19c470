package report

import "hyperscale/core/message"

func buildWorkers(in []message.WorkerShare) []Worker {
	out := []Worker{}
	for i := range in {
		w := &in[i]
		one := Worker{
			Name: w.Node, Others: w.Others, State: w.State.String(), CoresTotal: w.CoresTotal, Cores: w.Cores, VUs: w.VUs, DurationNS: int64(w.Elapsed), Lost: w.Lost,
			Totals: Totals{
				Started: w.Started, Sent: w.Sent, OK: w.OK, Failed: w.Failed, TimedOut: w.TimedOut, Cancelled: w.Cancelled,
				Dropped: w.Dropped, Skipped: w.Skipped, BytesIn: w.BytesIn, BytesOut: w.BytesOut,
			},
			LateP99NS: uint64(max(w.Late, 0)), BusyMaxPPM: w.BusyMax, Saturated: w.Saturated,
		}
		one.RateMilli = Rate(w.OK+w.Failed+w.TimedOut, w.Elapsed)
		out = append(out, one)
	}
	return out
}
