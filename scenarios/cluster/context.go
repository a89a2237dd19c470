package cluster

import (
	"bytes"
	"strconv"

	"hyperscale/core/message"
	"hyperscale/sim"
)

// Context makes each execution of a first layer give the second one a value, a different one
// for each attempt. It checks that the second layer of a job always gets one value, always the
// same: that of the attempt that counts.
func (s *Cluster) Context() {
	given := map[message.JobID][]byte{}
	s.Model.Provide = func(r *message.ExecStart, c *sim.Course) []message.Provided {
		if r.Shard.Workflow != 0 || r.FirstVU != 0 {
			return nil
		}
		return []message.Provided{{Name: "token", To: []uint32{1}, Value: strconv.AppendUint(nil, c.Salt, 10)}}
	}
	s.Model.Heed = func(r *message.ExecStart) {
		job := r.Shard.Job
		switch {
		case r.Shard.Workflow == 0 && len(r.Given) == 0:
		case r.Shard.Workflow == 0 || len(r.Given) != 1:
			s.Checker.Violate("T7", s.Record(s.Clients[0]), "shard %v was given %d values", r.Shard, len(r.Given))
		case given[job] == nil:
			given[job] = bytes.Clone(r.Given[0].Value)
		case !bytes.Equal(given[job], r.Given[0].Value):
			s.Checker.Violate("T7", s.Record(s.Clients[0]), "shard %v was given %s, another one %s", r.Shard, r.Given[0].Value, given[job])
		}
	}
}
