package feed

import (
	"context"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/report"
)

// keeper is a sink that keeps rows, once it may.
type keeper struct {
	may chan struct{}
	mu  sync.Mutex
	all []outputs.Row
}

func (k *keeper) Check(context.Context) error { return nil }
func (k *keeper) Close()                      {}
func (k *keeper) Deliver(_ context.Context, b outputs.Batch) outputs.Outcome {
	<-k.may
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, b.Rows...)
	return outputs.Delivered()
}

// OUTFEED-4: Apply returns while a sink hangs, and what statuses were left out changes no sum.
func TestDeliveries(t *testing.T) {
	var d Deliveries
	keepers := map[string]*keeper{"10s": {may: make(chan struct{})}, "60s": {may: make(chan struct{})}}
	kind := &outputs.Kind{Name: "keeper", Delivery: outputs.Exact}
	for _, window := range []string{"10s", "60s"} {
		s, err := outputs.Parse(kind, "x,window="+window)
		if err != nil {
			t.Fatal(err)
		}
		d.Add(outputs.NewShell(window, s, keepers[window], outputs.DefaultPace()), s.Window())
	}
	defer d.Close()
	for i := range 200 {
		d.Apply(status(time.Duration(i)*time.Second, nil, uint64(i*10)))
	}
	for _, k := range keepers {
		close(k.may)
	}
	end := status(0, nil, 2000)
	r := &message.Result{Job: message.JobOf("a"), Name: "t.star", State: message.JobCompleted, Duration: 201 * time.Second, Datacenters: end.Datacenters}
	r.Workflows = merged(r.Datacenters)
	built, err := report.Build(r, time.Unix(1000, 0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, o := range d.Finish(ctx, r, built) {
		if !o.Whole() || o.Rows == 0 {
			t.Errorf("%+v", o)
		}
	}
	for name, k := range keepers {
		all := outputs.Verify(k.all)
		if !all.Whole() || all.Requests != 2000 {
			t.Errorf("%s: %+v", name, all)
		}
		for _, v := range all.Steps {
			if !v.Whole || v.Begun != 2000 {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}

// A command that leaves a job delivers the rows so far, and reports on them.
func TestLeave(t *testing.T) {
	var d Deliveries
	k := &keeper{may: make(chan struct{})}
	close(k.may)
	s, err := outputs.Parse(&outputs.Kind{Name: "keeper", Delivery: outputs.Exact, Limits: outputs.Limits{Age: time.Hour}}, "x")
	if err != nil {
		t.Fatal(err)
	}
	d.Add(outputs.NewShell("x", s, k, outputs.DefaultPace()), s.Window())
	defer d.Close()
	d.Apply(status(11*time.Second, nil, 100))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reports := d.Leave(ctx)
	if len(reports) != 1 || reports[0].Delivered != 3 || !reports[0].Whole() || len(k.all) != 3 {
		t.Errorf("%+v", reports)
	}
}

// Rows of 60 s are sums of rows of 10 s, at the same boundaries.
func TestWindowsOfTwoLengths(t *testing.T) {
	short, long := New(10*time.Second, time.Unix(1000, 0)), New(time.Minute, time.Unix(1000, 0))
	begun, minutes := uint64(0), 0
	for i := range 400 {
		s := status(time.Duration(i)*1100*time.Millisecond, nil, uint64(i*i))
		for _, r := range short.Apply(s) {
			if r.Kind == outputs.RowWindow && r.Datacenter == "" {
				begun += r.Figures.Begun
			}
		}
		for _, r := range long.Apply(s) {
			if r.Kind == outputs.RowWindow && r.Datacenter == "" {
				if minutes++; r.Figures.Begun != begun {
					t.Errorf("%s: rows of 10 s have %d", line(&r), begun)
				}
				begun = 0
			}
		}
	}
	if minutes != 7 {
		t.Errorf("%d minutes", minutes)
	}
}
