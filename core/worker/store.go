package worker

import (
	"encoding/binary"
	"fmt"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Two records a shard: its fence, as the ShardAccepted that promises it, and its
// result, until acknowledged, as the ShardResult behind the manager's name.
const (
	prefixFence  = "fence/"
	prefixResult = "result/"

	keyDraining = "draining" // there is one while an operator wants this worker empty
)

// write is a Put that has not completed.
type write struct {
	what      string
	execution *execution // whose fence or result it is; nil when nobody waits
	fence     bool
	drain     bool // whether it is drained
}

// closing is a fence that outlived its execution.
type closing struct {
	shard *shard
	since node.Instant
}

func keyOf(prefix string, id message.ShardID) string {
	return fmt.Sprintf("%s%v/%d/%d", prefix, id.Job, id.Workflow, id.Ordinal)
}

func encode(m message.Body) []byte {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("worker: a record that cannot be written: %v", err)
	}
	return b
}

func (m *Machine) put(env node.Env, w write, records ...node.Record) {
	m.token++
	m.writes[m.token] = w
	env.Store().Put(records, m.token)
}

// writeFence also drops the result that the new fence supersedes: both or none.
func (m *Machine) writeFence(env node.Env, x *execution) {
	id := x.shard.id
	m.put(env, write{what: "fence of shard " + id.String(), execution: x, fence: true},
		node.Record{Key: keyOf(prefixFence, id), Value: encode(&message.ShardAccepted{Shard: id, Fence: x.fence})},
		node.Record{Key: keyOf(prefixResult, id)})
}

func (m *Machine) writeResult(env node.Env, x *execution) {
	if x.writing {
		return // a disk that is slow gets it once
	}
	x.writing = true
	value := binary.AppendUvarint(nil, uint64(len(x.manager)))
	value = append(value, x.manager...)
	value = append(value, encode(x.result)...)
	m.put(env, write{what: "result of shard " + x.shard.id.String(), execution: x},
		node.Record{Key: keyOf(prefixResult, x.shard.id), Value: value})
}

func (m *Machine) dropResult(env node.Env, x *execution) {
	m.put(env, write{what: "removal of a result"}, node.Record{Key: keyOf(prefixResult, x.shard.id)})
}

// writeDraining keeps an operator's order over a restart.
func (m *Machine) writeDraining(env node.Env) {
	m.drainUnkept = false
	r := node.Record{Key: keyDraining}
	if m.draining {
		r.Value = []byte{1}
	}
	m.put(env, write{what: "whether it is drained", drain: true}, r)
}

func (m *Machine) onStored(env node.Env, t node.Token, err error) {
	w, ok := m.writes[t]
	if !ok {
		node.Bug("worker: token %d completes a write that was never begun", t)
	}
	delete(m.writes, t)
	if err != nil {
		env.Emit(event.StoreFailed{What: w.what, Err: err.Error()})
	}
	switch {
	case w.drain:
		m.drainUnkept = err != nil // the sweep tries again
	case w.execution == nil:
	case w.fence:
		if err == nil {
			env.Emit(event.FenceStored{Shard: w.execution.shard.id, Fence: w.execution.fence})
		}
		m.onFenceStored(env, w.execution, err)
	default:
		m.onResultStored(env, w.execution, err)
	}
}

// load rebuilds what the last incarnation left: fences, and results that were
// not acknowledged. What it was running is over; no heartbeat lists it.
func (m *Machine) load(env node.Env) bool {
	m.draining = len(env.Store().Load(keyDraining)) > 0
	for _, r := range env.Store().Load(prefixFence) {
		body, err := message.Decode(r.Value)
		f, ok := body.(*message.ShardAccepted)
		if err != nil || !ok || keyOf(prefixFence, f.Shard) != r.Key {
			return unreadable(env, r.Key, err)
		}
		s := &shard{id: f.Shard, fence: f.Fence}
		m.shards[f.Shard] = s
		m.rest(env, s)
	}
	for _, r := range env.Store().Load(prefixResult) {
		x, err := m.decodeResult(env.Now(), r)
		if err != nil {
			return unreadable(env, r.Key, err)
		}
		x.shard.current = x
		m.outbox = append(m.outbox, x)
	}
	return true
}

func (m *Machine) decodeResult(now node.Instant, r node.Record) (*execution, error) {
	n, size := binary.Uvarint(r.Value)
	if size <= 0 || n > uint64(len(r.Value)-size) {
		return nil, fmt.Errorf("the manager's name is cut short")
	}
	manager := node.ID(r.Value[size : size+int(n)])
	body, err := message.Decode(r.Value[size+int(n):])
	if err != nil {
		return nil, err
	}
	result, ok := body.(*message.ShardResult)
	if !ok || keyOf(prefixResult, result.Shard) != r.Key {
		return nil, fmt.Errorf("it holds another record than its key says")
	}
	s := m.shards[result.Shard]
	if s == nil || s.fence != result.Fence {
		return nil, fmt.Errorf("its fence %v is not the one on disk", result.Fence)
	}
	m.executions++
	return &execution{number: m.executions, shard: s, fence: s.fence, manager: manager, phase: ended, ended: now, result: result, recorded: true}, nil
}

func unreadable(env node.Env, key string, err error) bool {
	env.Halt(fmt.Sprintf("the record %s of the store cannot be read (%v): restore the directory of --data, or empty it and lose what this worker had promised",
		strings.TrimSpace(key), err))
	return false
}

// rest files the fence of a shard that has no execution any more for reaping.
func (m *Machine) rest(env node.Env, s *shard) {
	if s.current != nil || s.storing != nil || s.leaving > 0 {
		return
	}
	s.since = env.Now()
	m.closed = append(m.closed, closing{s, s.since})
	m.reap(env)
}

// reap forgets the oldest fences beyond the bounds. A shard that was dispatched
// again since it was filed has been filed again, or will be.
func (m *Machine) reap(env node.Env) {
	for len(m.closed) > 0 {
		c := m.closed[0]
		if len(m.closed) <= m.config.FencesMax && env.Now().Sub(c.since) < m.config.FenceAge {
			return
		}
		m.closed = m.closed[1:]
		s := c.shard
		if s.since == c.since && s.current == nil && s.storing == nil && s.leaving == 0 && m.shards[s.id] == s {
			delete(m.shards, s.id)
			m.put(env, write{what: "removal of a fence"}, node.Record{Key: keyOf(prefixFence, s.id)})
		}
	}
}

func (m *Machine) onSweep(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, node.WorkerSweep), m.config.SweepInterval)
	m.reap(env)
	if m.drainUnkept {
		m.writeDraining(env)
	}
	for len(m.outbox) > 0 && env.Now().Sub(m.outbox[0].ended) >= m.config.FenceAge {
		m.discharge(env, m.outbox[0])
	}
}
