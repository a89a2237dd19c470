package worker

import "hyperscale/core/node"

// free counts the cores that nobody holds and nobody has reserved.
func (m *Machine) free() int {
	n := 0
	for _, x := range m.cores {
		if x == nil {
			n++
		}
	}
	return n
}

// reserve takes cores for x, the lowest first. What is missing may be owed by
// executions of the same shard that x supersedes: they are on their way out, and
// nobody else gets their cores first.
func (m *Machine) reserve(x *execution, want int) bool {
	held := 0
	for _, other := range m.cores {
		if other != nil && other != x && other.shard == x.shard {
			held++
		}
	}
	if want < 1 || want > m.free()+held {
		return false
	}
	for i := range m.cores {
		if len(x.cores) < want && m.cores[i] == nil {
			m.cores[i] = x
			x.cores = append(x.cores, i)
		}
	}
	x.owed = want - len(x.cores)
	return true
}

// release frees what x holds. A successor that is owed cores gets them before
// anybody else can ask.
func (m *Machine) release(env node.Env, x *execution) {
	delete(m.active, x.number)
	heir := x.shard.storing
	if heir == nil || heir == x {
		heir = x.shard.current
	}
	for i := range m.cores {
		if m.cores[i] != x {
			continue
		}
		m.cores[i] = nil
		if heir != nil && heir != x && heir.owed > 0 {
			heir.owed--
			heir.cores = append(heir.cores, i)
			m.cores[i] = heir
		}
	}
	x.owed = 0
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerShard, x.number))
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerKill, x.number))
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerRenewal, x.number))
}
