package job

import (
	"slices"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/output"
)

// A record lists the files of its streams once, also where a version that knows no streams looks for them, and beside
// those that only a newer version's fields name.
func TestRecordsNameTheBatchesOfRows(t *testing.T) {
	id, newer, batch := message.JobOf("k"), message.FileDigest{1}, message.FileDigest{2}
	j := &Job{ID: id, Key: "k", Course: Course{Last: Transition{From: message.JobSubmitted, To: message.JobQueued}}, Newer: Newer{Files: []message.FileDigest{newer}}}
	j.Rows = RowsOf(id, &message.JobSubmit{Name: "t.star", Sent: 7}, []output.Sink{{Name: "lake", Window: time.Second}})
	j.Rows.Streams[0] = output.FromRecord(id, "t.star", record.Sink{Name: "lake", Window: time.Second, Number: 3, File: batch, Delivered: 9}, 7)
	for range 3 {
		rec, err := ReadRecord(id, j.Record(0))
		if err != nil {
			t.Fatal(err)
		}
		if got := rec.Job.Files; !slices.Equal(got, []message.FileDigest{newer, batch}) {
			t.Fatalf("the record's files are %v", got)
		}
		if !slices.Contains(rec.Files(), batch) {
			t.Fatal("the gate may sweep the batch")
		}
		next := FromRecord(id, &rec, 0, 0, 1)
		if s := next.Rows.Streams[0]; s.File() != batch || s.Stage() != output.Loading || s.Report(0).Delivered != 9 {
			t.Fatalf("the next owner has %+v", s)
		}
		j = &next
	}
	if j.Rows.record().Sent != 7 {
		t.Fatal("the next owner does not know when the job was sent")
	}
}
