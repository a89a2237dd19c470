package google

import (
	"encoding/json"
	"slices"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

// job is a load job as the API has it.
type job struct {
	Status struct {
		State       string
		ErrorResult *struct{ Reason, Message, Location string }
	}
	found bool // it was there before this try
}

// parseJob reads an answer. One that is no job is Unclear, since the service may have started one.
func parseJob(body []byte) (*job, outputs.Outcome) {
	j := &job{}
	if json.Unmarshal(body, j) != nil || !slices.Contains([]string{"PENDING", "RUNNING", "DONE"}, j.Status.State) {
		return nil, outputs.Unclear("the service answers no job")
	}
	return j, outputs.Outcome{}
}

// quotaPause is how long a batch waits behind a job that met a quota, which refills over the day.
const quotaPause = time.Minute

// outcome is that of a job that is over. It loads all rows or none.
func (j *job) outcome(b outputs.Batch) outputs.Outcome {
	e := j.Status.ErrorResult
	if e == nil {
		return outputs.Delivered()
	}
	why := push.Clean("the load job failed: "+e.Reason+": "+e.Message, nil)
	switch {
	case e.Reason == "quotaExceeded" || e.Reason == "rateLimitExceeded":
		return outputs.Again(quotaPause, why)
	case slices.Contains(busy, e.Reason) || e.Reason == "timeout":
		return outputs.Again(0, why)
	case e.Reason == "accessDenied":
		return outputs.Denied(why + ": grant the account the role BigQuery Data Editor")
	case e.Reason == "notFound":
		return outputs.Rejected(nil, why+": create the dataset, and the table, which create=true does")
	}
	return push.Alone(b, outputs.Rejected(nil, why))
}
