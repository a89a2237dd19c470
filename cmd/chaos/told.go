package main

import (
	"maps"
	"path/filepath"
	"slices"

	"hyperscale/checker"
	"hyperscale/core/message"
	file "hyperscale/runtime/report"
)

// resultFile returns the file in which a client stores its result.
func resultFile(dir, client, key string) string {
	return filepath.Join(dir, client+"-"+key+".result.json")
}

// told passes the results that clients got to the checker, and returns their number.
func told(dir string, c *checker.Checker, at checker.Record) (int, error) {
	files, err := filepath.Glob(resultFile(dir, "*", "*"))
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		r, err := file.Read(name)
		if err != nil {
			return 0, err
		}
		job, err := message.ParseJobID(r.Job)
		if err != nil {
			return 0, err
		}
		c.Told(at, job, subjobs(r))
	}
	return len(files), nil
}

// subjobs converts a result's datacenters and workers for the checker: the sums of all steps
// replace the steps.
func subjobs(r *file.Result) (all []message.DatacenterResult) {
	for _, name := range slices.Sorted(maps.Keys(r.Datacenters)) {
		d := r.Datacenters[name]
		subjob := message.DatacenterResult{Name: name}
		if d.Figures == nil { // it reported nothing
			all = append(all, subjob)
			continue
		}
		for i := range d.Workflows {
			w := message.WorkflowResult{Name: d.Workflows[i].Name}
			if t := &d.Workflows[i].Totals; len(d.Workflows[i].Steps) > 0 {
				w.Stats.Steps = []message.StepStats{{Kind: message.StepRequest, Started: t.Started, OK: t.OK, Failed: t.Failed, TimedOut: t.TimedOut, Cancelled: t.Cancelled}}
			}
			subjob.Workflows = append(subjob.Workflows, w)
		}
		for _, w := range d.Workers {
			subjob.Workers = append(subjob.Workers, message.WorkerShare{Node: w.Name, Started: w.Started, OK: w.OK, Failed: w.Failed, TimedOut: w.TimedOut, Cancelled: w.Cancelled})
		}
		all = append(all, subjob)
	}
	return all
}
