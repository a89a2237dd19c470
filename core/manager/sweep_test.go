package manager

import (
	"testing"
	"time"

	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
)

// A manager that lacks a record that is a file does not know which files the record names: it
// deletes nothing, however old.
func TestMissingRecordsSpareAllFiles(t *testing.T) {
	c := newCommitting(t)
	c.commit(Default().SpillAt)
	c.release()
	c.Advance(c.m.config.FileAge + time.Minute)
	seen, _ := c.m.group.Leases.Seen(c.Now(), c.p.Job)
	spill, ok := subjob.SpillOf(seen.Record)
	if !ok || c.p.File == (message.FileDigest{}) {
		t.Fatalf("the record is no file, or the subjob has none: %x", seen.Record)
	}
	c.m.order = nil // as if another manager held the subjob
	c.m.group.Files.Drop(c, spill)
	for range 3 {
		c.m.onSweep(c)
		c.m.settle(c)
		if _, ok := c.m.group.Files.Have(c.p.File); !ok {
			t.Fatal("the manager swept a file that the missing record names")
		}
	}
}

// A manager fetches a record that it lacks, so that it can sweep again.
func TestMissingRecordsAreFetched(t *testing.T) {
	d := newDatacenterOf(t, 3, func(c *Config) { c.SpillAt = 1 })
	d.run(3 * time.Second)
	d.slow(true)
	j := d.submit(1, 1, 6)
	d.until("it runs", 10*time.Second, func() bool { return d.running(j.dispatch.Job) >= 2 })
	d.run(1500 * time.Millisecond)
	holder := d.holder(j.dispatch.Job)
	for _, h := range d.managers {
		if h == holder {
			continue
		}
		m := h.machine.(*Machine)
		seen, _ := m.group.Leases.Seen(d.now, j.dispatch.Job)
		spill, ok := subjob.SpillOf(seen.Record)
		if !ok {
			t.Fatalf("%v sees a record that is no file: %x", h.peer, seen.Record)
		}
		m.group.Files.Drop(h, spill)
		m.onSweep(h)
		m.settle(h)
		d.run(time.Second)
		if _, ok := m.group.Files.Have(spill); !ok {
			t.Errorf("%v still misses the record", h.peer)
		}
	}
}

// A manager lacks a record that is a file, and the files behind it. It has all of them soon
// after its registers answer, before the next regular sweep.
func TestFilesBehindAMissingRecordFollowSoon(t *testing.T) {
	d := newDatacenterOf(t, 3, func(c *Config) { c.SpillAt = 1 })
	d.run(3 * time.Second)
	d.slow(true)
	j := d.submit(1, 1, 6)
	d.until("it runs", 10*time.Second, func() bool { return d.running(j.dispatch.Job) >= 2 })
	d.run(1500 * time.Millisecond)
	holder := d.holder(j.dispatch.Job)
	for _, h := range d.managers {
		if h == holder {
			continue
		}
		m := h.machine.(*Machine)
		seen, _ := m.group.Leases.Seen(d.now, j.dispatch.Job)
		spill, _ := subjob.SpillOf(seen.Record)
		record, ok := m.group.Files.Have(spill)
		behind, _ := subjob.FilesOf(record)
		if !ok || len(behind) == 0 {
			t.Fatalf("%v has no record that names files", h.peer)
		}
		for _, file := range append(behind, spill) {
			m.group.Files.Drop(h, file)
		}
		m.onLease(h, &lease.Outcome{Kind: lease.Ready})
		m.settle(h)
		d.run(3 * m.config.Retry)
		for _, file := range behind {
			if _, ok := m.group.Files.Have(file); !ok {
				t.Errorf("%v still misses a file behind the record", h.peer)
			}
		}
	}
}
