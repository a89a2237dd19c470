package worker

import (
	"encoding/binary"
	"fmt"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker/outbox"
)

// Two records per shard: its fence, as the ShardAccepted that promises it, and its result,
// until acknowledged, as the ShardResult after the manager's name.
const (
	prefixFence  = "fence/"
	prefixResult = "result/"

	keyDraining = "draining" // exists while an operator drains this worker
)

// disk writes this worker's records.
type disk struct {
	writes  map[node.WriteID]write
	writeID node.WriteID
}

// write is a Put that has not completed: of a fence, of a result, of the drain order, or one
// that nothing waits for.
type write struct {
	what   string
	fence  *execution
	result *outbox.Item
	drain  bool
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

func (d *disk) put(env node.Env, w write, records ...node.Record) {
	d.writeID++
	d.writes[d.writeID] = w
	env.Store().Put(records, d.writeID)
}

// take removes a completed write.
func (d *disk) take(t node.WriteID) write {
	w, ok := d.writes[t]
	if !ok {
		node.Bug("worker: token %d completes a write that was never begun", t)
	}
	delete(d.writes, t)
	return w
}

// writeFence writes a fence and drops the result that it supersedes, in one write.
func (d *disk) writeFence(env node.Env, x *execution) {
	id := x.shard.id
	d.put(env, write{what: "fence of shard " + id.String(), fence: x},
		node.Record{Key: keyOf(prefixFence, id), Value: encode(&message.ShardAccepted{Shard: id, Fence: x.fence})},
		node.Record{Key: keyOf(prefixResult, id)})
}

func (d *disk) dropFence(env node.Env, id message.ShardID) {
	d.put(env, write{what: "removal of a fence"}, node.Record{Key: keyOf(prefixFence, id)})
}

// writeResult writes a result unless the disk has it, or a write is under way.
func (d *disk) writeResult(env node.Env, x *outbox.Item) {
	if !x.Write() {
		return
	}
	value := binary.AppendUvarint(nil, uint64(len(x.Manager)))
	value = append(value, x.Manager...)
	value = append(value, encode(x.Result)...)
	d.put(env, write{what: "result of shard " + x.Result.Shard.String(), result: x},
		node.Record{Key: keyOf(prefixResult, x.Result.Shard), Value: value})
}

func (d *disk) dropResult(env node.Env, id message.ShardID) {
	d.put(env, write{what: "removal of a result"}, node.Record{Key: keyOf(prefixResult, id)})
}

// writeDraining stores an operator's order, so that it survives a restart.
func (d *disk) writeDraining(env node.Env, ordered bool) {
	r := node.Record{Key: keyDraining}
	if ordered {
		r.Value = []byte{1}
	}
	d.put(env, write{what: "whether it is drained", drain: true}, r)
}

// load restores what the last incarnation left: fences, and unacknowledged results. Its
// executions are over; no heartbeat lists them.
func (m *holdings) load(env node.Env) bool {
	m.drain.ordered = len(env.Store().Load(keyDraining)) > 0
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
		m.shards[x.Result.Shard].result = x
		m.outbox.Add(x)
		m.last.execution++ // its execution had a number, too
	}
	return true
}

func (m *holdings) decodeResult(now node.Instant, r node.Record) (*outbox.Item, error) {
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
	return &outbox.Item{Result: result, Manager: manager, Ended: now, Copy: outbox.Written}, nil
}

func unreadable(env node.Env, key string, err error) bool {
	env.Halt(fmt.Sprintf("the record %s of the store cannot be read (%v): restore the directory of --data, or empty it and lose what this worker had promised",
		strings.TrimSpace(key), err))
	return false
}
