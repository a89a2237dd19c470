package copies

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/lease/level"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// drawRegister draws what an acceptor may have of one of a few jobs: what it accepted is a function
// of the token and the Seq, as in a group whose members are honest.
func drawRegister(t *rapid.T, job message.JobID) message.LeaseRegister {
	token := func(label string) message.LeaseToken {
		return message.LeaseToken{Epoch: rapid.Uint64Range(1, 4).Draw(t, label), Ordinal: rapid.Uint32Range(1, 3).Draw(t, "ordinal")}
	}
	r := message.LeaseRegister{Job: job, Promised: token("promised")}
	if rapid.IntRange(0, 4).Draw(t, "accepted") > 0 {
		a := token("epoch")
		seq := rapid.Uint64Range(0, 2).Draw(t, "seq")
		r.Accepted = message.LeaseState{Token: a, Seq: seq, Lease: 1, Record: []byte{byte(a.Epoch), byte(a.Ordinal), byte(seq)}}
		if seq == 2 && rapid.Bool().Draw(t, "reaped") {
			r.Reaped, r.Accepted.Record = true, nil
		}
		if r.Promised.Less(a) {
			r.Promised = a
		}
	}
	return r
}

func drawCopy(t *rapid.T) Copy {
	c := Copy{Epoch: rapid.Uint64Range(0, 2).Draw(t, "group's epoch"), Floor: rapid.Uint64Range(0, 9).Draw(t, "floor"), Level: rapid.Uint16Range(0, 2).Draw(t, "level")}
	for _, key := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, key) {
			c.Registers = append(c.Registers, drawRegister(t, message.JobOf(key)))
		}
	}
	return c
}

// TestMerge: each register of the merge is the latest one of the newest epoch, whatever the order
// of the copies, and no token of any copy is above Highest.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(drawCopy), 1, 4).Draw(t, "copies")
		m := Merge(all)
		turned := rapid.Permutation(all).Draw(t, "turned")
		if d := cmp.Diff(m, Merge(turned)); d != "" {
			t.Fatalf("another order of the copies gives another merge:\n%s", d)
		}
		counted, of := 0, map[message.JobID]message.LeaseRegister{}
		for _, r := range m.Registers {
			of[r.Job] = r
		}
		for _, c := range all {
			if c.Level > m.Level {
				t.Fatalf("the level %d is above %d", c.Level, m.Level)
			}
			if c.Floor > m.Highest {
				t.Fatalf("the floor %d is above %d", c.Floor, m.Highest)
			}
			for _, r := range c.Registers {
				if r.Promised.Epoch > m.Highest || r.Accepted.Token.Epoch > m.Highest {
					t.Fatalf("a token of %+v is above %d", r, m.Highest)
				}
			}
			if c.Epoch < m.Epoch {
				continue
			}
			counted++
			for _, r := range c.Registers {
				got, known := of[r.Job]
				if r.Accepted.Token.Zero() {
					continue
				}
				if !known || got.Accepted.Token.Less(r.Accepted.Token) || got.Accepted.Token == r.Accepted.Token && (got.Accepted.Seq < r.Accepted.Seq || r.Reaped && !got.Reaped) {
					t.Fatalf("the merge has %+v, and a copy %+v", got, r)
				}
			}
		}
		if counted != m.Counted {
			t.Fatalf("%d copies count, not %d", m.Counted, counted)
		}
	})
}

// TestDisk: what a restored group begins with is above all that the old one had, and may reach.
func TestDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(drawCopy), 1, 4).Draw(t, "copies")
		g := Ground{Group: "gates", Members: []node.Addr{"b:1", "a:1", "c:1"}, Merged: Merge(all), Draw: rapid.Uint64Range(0, EpochDraw-1).Draw(t, "draw")}
		records, err := g.Disk()
		if err != nil {
			t.Fatal(err)
		}
		var mark record.Member
		if records[0].Key != "lease/gates/member" || record.Read(records[0].Value, &mark) != nil {
			t.Fatalf("the first record is %q", records[0].Key)
		}
		level.Unguard(&mark)
		if mark.Level != g.Merged.Level {
			t.Fatalf("the group had level %d, and has %d", g.Merged.Level, mark.Level)
		}
		if mark.Standing != 3 || mark.Epoch < g.Merged.Epoch+EpochStride || mark.Floor < g.Merged.Highest+Stride || cmp.Diff(mark.Members, []string{"a:1", "b:1", "c:1"}) != "" {
			t.Fatalf("the mark is %+v above epoch %d and %d", mark, g.Merged.Epoch, g.Merged.Highest)
		}
		for _, gen := range mark.Generations {
			if gen != mark.Epoch<<32|1 {
				t.Fatalf("generations %v in epoch %d", mark.Generations, mark.Epoch)
			}
		}
		if len(records) != 1+len(g.Merged.Registers) {
			t.Fatalf("%d records of %d registers", len(records), len(g.Merged.Registers))
		}
		for i, r := range g.Merged.Registers {
			got, err := ReadRegister(records[i+1].Key, records[i+1].Value)
			if err != nil {
				t.Fatal(err)
			}
			if got.Promised.Epoch < g.Merged.Highest+Stride || got.Promised != got.Accepted.Token || got.Promised.Ordinal != message.OrdinalMax {
				t.Fatalf("the token of %+v is not raised above %d", got, g.Merged.Highest)
			}
			if got.Reaped != r.Reaped || string(got.Accepted.Record) != string(r.Accepted.Record) || got.Accepted.Released != r.Accepted.Released {
				t.Fatalf("%+v became %+v", r, got)
			}
		}
	})
}

// TestBoundsOfDisk: a group cannot be restored for ever.
func TestBoundsOfDisk(t *testing.T) {
	for _, g := range []Ground{
		{Merged: Merged{Highest: floorMax}}, {Merged: Merged{Epoch: epochMax}}, {Draw: EpochDraw},
	} {
		if _, err := g.Disk(); err == nil {
			t.Errorf("%+v is taken", g)
		}
	}
}

// TestOutlivedDisks: a disk of an older epoch has later tokens, and its records do not count.
func TestOutlivedDisks(t *testing.T) {
	of := func(epoch uint64, b string) []message.LeaseRegister {
		return []message.LeaseRegister{{Job: message.JobOf("a"), Accepted: message.LeaseState{Token: message.LeaseToken{Epoch: epoch, Ordinal: 1}, Lease: 1, Record: []byte(b)}}}
	}
	m := Merge([]Copy{{Epoch: 0, Registers: of(9, "outlived")}, {Epoch: 1, Registers: of(5, "counts")}})
	if m.Counted != 1 || len(m.Registers) != 1 || string(m.Registers[0].Accepted.Record) != "counts" || m.Highest != 9 || m.Epoch != 1 {
		t.Errorf("the merge of an outlived disk is %+v", m)
	}
}
